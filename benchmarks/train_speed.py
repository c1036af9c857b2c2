"""How fast does `respawn train mario` learn, and how does that compare with Stable-Baselines3's PPO?

Decisions a second, collected and learned from, with the same network on the same world; all is measured in turn in one
run, and the median counts. It is `respawn bench train` that measures, so that threads wait as they do in a training.
Needs the game. Let nothing else run meanwhile.
"""

import argparse
import sys

from harness import keep, measured_by, show
from respawn.training.bench_watch import QUIET_CORES


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--preset", default="mario")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that has Stable-Baselines3")
    options = parser.parse_args()
    paces = ["--rounds", str(options.rounds), "--seconds", str(options.seconds)]
    results = measured_by(["train", options.preset, *paces, "--peers-python", options.peers_python])
    rows = [("respawn", results["decisions_per_second"], "", results["threads"])]
    rows += [
        (name, peer["decisions_per_second"], peer["ratio"], peer["threads"]) for name, peer in results["peers"].items()
    ]
    show("decisions a second", ("trained by", "median", "ratio", "threads"), rows)
    if not results["peers"]:
        print("not kept: there is nothing to compare with")
        return 1
    if results["others_cores"] > QUIET_CORES:
        print(f"not kept: others kept {results['others_cores']:.1f} cores at work; try again when nothing else runs")
        return 1
    keep("train_speed", (__doc__ or "").partition("\n")[0], results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
