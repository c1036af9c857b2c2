"""How many steps a second does each kind of world make by itself, over numbers of lanes?

The same as `respawn bench world`, kept as JSON, CSV and Markdown: Mario in tiles and pixels, one of Gymnasium's
environments in this process and in workers, and fish beside the plain program.
"""

import argparse
import sys

from harness import keep, measured_by

WORLDS = {
    "mario": ["mario"],
    "cartpole": ["CartPole-v1"],
    "cartpole_in_two_workers": ["CartPole-v1", "--workers", "2"],
    "fish": ["fish"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--lanes", nargs="+", default=["2", "8", "64"], help="of all but fish, which come in schools")
    parser.add_argument("--rounds", default="5")
    parser.add_argument("--seconds", default="2")
    options = parser.parse_args()
    failed = 0
    for world in options.worlds:
        words = ["world", *WORLDS[world], "--rounds", options.rounds, "--seconds", options.seconds]
        words += [] if world == "fish" else ["--lanes", *options.lanes]
        measured = measured_by(words, f"world_speed_{world}", with_failures=True)
        keep(f"world_speed_{world}", (__doc__ or "").partition("\n")[0], measured)
        failed += sum(row["error"] is not None for row in measured["rows"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
