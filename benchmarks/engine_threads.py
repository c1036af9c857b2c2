"""How does the NES engine's speed grow with its threads, with 64 consoles to each?

Every number of threads is measured in turn, several times; the median counts. Let nothing else run meanwhile.
"""

import argparse
import os
import sys
from pathlib import Path
from statistics import median

import numpy as np

from harness import keep, show
from respawn.worlds.mario.engine import PoolConfig, open_cartridge, simd_path
from respawn.worlds.mario.measure import RandomPlay, level_start
from respawn.worlds.mario.rom import find_rom

WARM_UP_STEPS = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--lanes", type=int, default=64, help="consoles to a thread")
    parser.add_argument("--rom", type=Path)
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    counts = sorted({threads for threads in (1, 2, 4, 8, 16, 32, 64, cores) if threads <= cores})
    cartridge = open_cartridge(find_rom(arguments.rom, expect="ntsc"))
    start = level_start(cartridge)
    plays = {}
    for kind in ("grey", "none"):
        for threads in counts:
            lanes = arguments.lanes * threads
            config = PoolConfig(lanes=lanes, threads=threads, kind=kind)
            play = RandomPlay(cartridge, config, start, np.repeat(start, lanes, axis=0))
            for _ in range(WARM_UP_STEPS):
                play.step()
            plays[kind, threads] = play
    found: dict[tuple[str, int], list[float]] = {key: [] for key in plays}
    for _ in range(arguments.rounds):
        for key, play in plays.items():
            found[key].append(play.run(arguments.seconds).per_second)
    rows = []
    for (kind, threads), values in found.items():
        one = median(found[kind, 1])
        rows.append(
            [kind, threads, round(median(values)), round(min(values)), round(max(values)), median(values) / one]
        )
    columns = ["picture", "threads", "decisions/s", "least", "most", "times one thread"]
    show(f"{arguments.lanes} consoles a thread, {simd_path()}, recompiled: {cartridge.recompiled}", columns, rows)
    results = [dict(zip(columns, row, strict=True)) for row in rows]
    facts = {"recompiled": cartridge.recompiled, "simd_path": simd_path(), "lanes_a_thread": arguments.lanes}
    keep("engine_threads", (__doc__ or "").partition("\n")[0], {**facts, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
