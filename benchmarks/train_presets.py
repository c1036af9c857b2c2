"""How many decisions a second does each preset learn from, and where it can be compared, how many Stable-Baselines3?

The same as `respawn bench train`, kept as JSON, CSV and Markdown: every preset that trains on a CPU, in its own size.
"""

import argparse
import sys

from harness import keep, measured_by

PRESETS = ("mario", "mario-vtrace", "mario-levels", "fish", "cartpole-ppo", "cartpole-vtrace", "memory-gru")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=list(PRESETS))
    parser.add_argument("--rounds", default="5")
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    words = ["train", *options.presets, "--rounds", options.rounds, "--seconds", options.seconds]
    measured = measured_by([*words, "--device", options.device], "train_presets", with_failures=True)
    keep("train_presets", (__doc__ or "").partition("\n")[0], measured)
    return 1 if any(row["error"] for cell in measured["cells"] for row in cell["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
