"""How fast does a training learn when it collects in turn, beside learning or in actors, and where does its time go?

The same as `respawn bench overlap`, kept: over lanes, steps, lags and actors, as JSON, CSV and Markdown. All ways of a
cell take turns and so meet other work alike; how much of it there was is in the tables. Better let nothing else run.
"""

import argparse
import sys

from harness import keep, measured_by


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["mario-vtrace", "mario"])
    parser.add_argument("--lanes", nargs="+", default=["8", "32"])
    parser.add_argument("--horizon", nargs="+", default=["32", "64"])
    parser.add_argument("--lags", nargs="+", default=["0", "1"])
    parser.add_argument("--actors", nargs="+", default=["0", "1", "2"])
    parser.add_argument("--updates", default="30", help="of each turn, those that are dropped included")
    parser.add_argument("--repeats", default="5", help="turns of each")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    failed = 0
    for preset in options.presets:
        words = ["overlap", preset, "--updates", options.updates, "--repeats", options.repeats]
        words += ["--lanes", *options.lanes, "--horizon", *options.horizon, "--lags", *options.lags]
        words += ["--actors", *options.actors, "--device", options.device]
        name = f"overlap_matrix_{preset.replace('-', '_')}"
        measured = measured_by(words, name, with_failures=True)
        keep(name, (__doc__ or "").partition("\n")[0], measured)
        failed += sum(row["error"] is not None for cell in measured["cells"] for row in cell["rows"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
