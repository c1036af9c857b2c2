"""Is each frame the same as on cynes, a cycle-accurate console, in every way we run?

Phase one plays random buttons of many seeds, and the movies in --movies if there are any, on cynes, and notes a
checksum of RAM after every frame and of every fifth picture. Phase two plays the same on ours: interpreted and
recompiled, with one thread and with two, with each SIMD path this machine has.
"""

import argparse
import multiprocessing
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from harness import keep, show
from respawn.worlds.mario.engine import (
    Cartridge,
    Pool,
    PoolConfig,
    open_cartridge,
    set_simd_path,
    simd_path,
    simd_paths,
)
from respawn.worlds.mario.fm2 import read_movie
from respawn.worlds.mario.movie import DEAD_LINES
from respawn.worlds.mario.recompiler.generate import probing_buttons
from respawn.worlds.mario.rom import Rom, find_rom

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "worlds" / "mario" / "engine"))
from oracles import CynesConsole

PICTURE_EVERY = 5
RAM_BYTES = 2048
FIRST_DEFINED_FRAME = 6
"""Frames before the game has cleared RAM are not compared: there cynes shows what its memory held by chance."""


@dataclass(frozen=True)
class Play:
    """Buttons for a number of frames from power-on."""

    name: str
    buttons: bytes


@dataclass(frozen=True)
class Checksums:
    """What a console showed: one number a frame for RAM, one for each sampled picture."""

    ram: NDArray[np.uint32]
    pictures: NDArray[np.uint32]


def plays(seeds: int, frames: int, movies: Path) -> Iterator[Play]:
    for path in sorted(movies.glob("*.fm2")):
        yield Play(path.stem, bytes(read_movie(path).buttons[DEAD_LINES:]))
    for seed in range(seeds):
        yield Play(f"seed {seed}", probing_buttons(frames, seed))


def on_cynes(task: tuple[bytes, Play]) -> Checksums:
    data, play = task
    console = CynesConsole(data)
    ram, pictures = [], []
    for frame, buttons in enumerate(play.buttons):
        console.frame(buttons)
        ram.append(zlib.crc32(console.ram().tobytes()))
        if frame % PICTURE_EVERY == 0:
            pictures.append(zlib.crc32(console.rgb().tobytes()))
    return Checksums(np.array(ram, np.uint32), np.array(pictures, np.uint32))


def on_ours(cartridge: Cartridge, all_plays: list[Play], threads: int, interpret: bool) -> list[Checksums]:
    """All plays at once, a lane each; those that end early go on without buttons and are cut."""
    config = PoolConfig(
        lanes=len(all_plays),
        threads=threads,
        skip=1,
        kind="rgb",
        stack=1,
        watch=tuple(range(RAM_BYTES)),
        interpret=interpret,
    )
    pool = Pool(cartridge, config)
    longest = max(len(play.buttons) for play in all_plays)
    buttons = np.zeros((longest, len(all_plays)), np.uint8)
    for lane, play in enumerate(all_plays):
        buttons[: len(play.buttons), lane] = np.frombuffer(play.buttons, np.uint8)
    frames = np.zeros((len(all_plays), 1, 240, 256, 3), np.uint8)
    ram = np.zeros((len(all_plays), RAM_BYTES), np.uint8)
    ram_sums = np.zeros((longest, len(all_plays)), np.uint32)
    picture_sums = np.zeros((-(-longest // PICTURE_EVERY), len(all_plays)), np.uint32)
    for frame in range(longest):
        pool.step(buttons[frame], frames, ram)
        for lane, play in enumerate(all_plays):
            if frame >= len(play.buttons):
                continue
            ram_sums[frame, lane] = zlib.crc32(ram[lane])
            if frame % PICTURE_EVERY == 0:
                picture_sums[frame // PICTURE_EVERY, lane] = zlib.crc32(frames[lane])
    return [
        Checksums(
            ram_sums[: len(play.buttons), lane].copy(),
            picture_sums[: -(-len(play.buttons) // PICTURE_EVERY), lane].copy(),
        )
        for lane, play in enumerate(all_plays)
    ]


def differences(expected: Checksums, found: Checksums) -> tuple[list[int], list[int]]:
    """The frames whose RAM differs, and those whose picture does."""
    ram = np.nonzero(expected.ram != found.ram)[0]
    pictures = np.nonzero(expected.pictures != found.pictures)[0] * PICTURE_EVERY
    return [int(f) for f in ram if f >= FIRST_DEFINED_FRAME], [int(f) for f in pictures if f >= FIRST_DEFINED_FRAME]


def compare(rom: Rom, all_plays: list[Play], expected: list[Checksums]) -> list[list[object]]:
    rows: list[list[object]] = []
    cartridge = open_cartridge(rom)
    if not cartridge.recompiled:
        raise SystemExit("the game could not be recompiled, so half of the question cannot be answered")
    chosen = simd_path()
    for path, threads, interpret in product(simd_paths(), (1, 2), (False, True)):
        set_simd_path(path)
        found = on_ours(cartridge, all_plays, threads, interpret)
        bad = [differences(*pair) for pair in zip(expected, found, strict=True)]
        for play, (ram, pictures) in zip(all_plays, bad, strict=True):
            if ram or pictures:
                print(f"{play.name}: RAM differs in frames {ram[:5]}, pictures in {pictures[:5]}", file=sys.stderr)
        frames, sampled = sum(len(e.ram) for e in expected), sum(len(e.pictures) for e in expected)
        wrong_ram, wrong_pictures = sum(len(b[0]) for b in bad), sum(len(b[1]) for b in bad)
        rows.append(
            [path, threads, "interpreted" if interpret else "recompiled", frames, wrong_ram, sampled, wrong_pictures]
        )
    set_simd_path(chosen)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40, help="random plays")
    parser.add_argument("--frames", type=int, default=3_000, help="frames of each random play")
    parser.add_argument("--movies", type=Path, default=Path(__file__).parents[2] / "shared" / "movies")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    rom = find_rom(expect="ntsc")
    all_plays = list(plays(arguments.seeds, arguments.frames, arguments.movies))
    began = time.monotonic()
    with multiprocessing.Pool(arguments.processes) as processes:
        tasks = processes.imap(on_cynes, [(rom.data, play) for play in all_plays])
        expected = list(track(tasks, "cynes plays", total=len(all_plays)))
    rows = compare(rom, all_plays, expected)
    columns = ["SIMD path", "threads", "program", "frames", "RAM differs", "pictures", "differ"]
    show("ours against cynes 0.1.2", columns, rows)
    failed = sum(int(row[4]) + int(row[6]) for row in rows)  # type: ignore[call-overload]
    if failed == 0:
        results = [dict(zip(columns, row, strict=True)) for row in rows]
        keep("engine_exactness", "is every frame the same as on cynes?", {"plays": len(all_plays), "results": results})
    print(f"{'equal' if failed == 0 else 'NOT equal'}, in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
