"""How fast is the NES engine on one core, and how does that compare with other environments for Super Mario Bros.?

All is measured in turn in one run, and the median counts; what is measured is told in docs/worlds/mario-engine.md.
Needs the game and, for the peers, `make peers`. Let nothing else run meanwhile.
"""

import argparse
import sys
from pathlib import Path

from harness import keep, show
from respawn.cli.bench_engine import QUIET_CPU_SHARE
from respawn.worlds.mario.engine import open_cartridge
from respawn.worlds.mario.measure_engine import Plan, default_peers, measure_engine
from respawn.worlds.mario.rom import find_rom


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--rom", type=Path)
    arguments = parser.parse_args()
    rom = find_rom(arguments.rom, expect="ntsc")
    plan = Plan(arguments.lanes, arguments.rounds, arguments.seconds, default_peers(), arguments.peers_python)
    results = measure_engine(open_cartridge(rom), rom, plan)
    machine = results.pop("machine")
    rows = [(name, value) for name, value in results.items() if isinstance(value, float) and name != "seconds"]
    for name, peer in results["peers"].items():
        rows += [(f"{name}: {key}", value) for key, value in peer.items()]
    show(f"{plan.lanes} consoles, median of {plan.rounds} x {plan.seconds:g} s, {machine['cpu']}", ("", "median"), rows)
    for sentence in results["peers_failed"].values():
        print(sentence)
    share = results["least_cpu_share"]
    if share < QUIET_CPU_SHARE:
        print(f"not kept: a measurement had only {100 * share:.0f} % of its core; try again when nothing else runs")
        return 1
    keep("engine_speed", (__doc__ or "").partition("\n")[0], results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
