"""How many fish does the world move in a second, and how much more is that than a plain program does?"""

import argparse
import sys

from harness import keep, measured_by, show

LEAST_RATIOS = {"25": 300, "96": 500}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--fish", type=int, nargs="+", default=[25, 96])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    on_cpu = arguments.device == "cpu"
    words = ["world", "fish", "--device", arguments.device, "--rounds", str(arguments.rounds)]
    words += ["--fish", *map(str, arguments.fish), *([] if on_cpu else ["--no-reference"])]
    measured = measured_by(words)
    rows = list(measured["sizes"].values())
    columns = ("fish", "schools", "fish_steps_per_second", "reference_fish_steps_per_second", "ratio")
    table = [[row.get(name, "") for name in columns] for row in rows]
    show(f"fish-steps a second, {measured['device']}", columns, table)
    keep("fish_speed", __doc__ or "", measured)
    return 0 if not on_cpu or all(r["ratio"] >= LEAST_RATIOS.get(str(r["fish"]), 0) for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
