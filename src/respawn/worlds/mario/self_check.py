"""Whether the engine does here what it does everywhere: each of its fast ways against a slow one, on the user's game.

A check is a generator that plays at random for ever. It yields how many frames it has just compared, and what differed
in them, if anything did: one clause.
"""

import random
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np

from respawn.worlds.mario.engine import (
    Cartridge,
    Console,
    Pool,
    PoolConfig,
    set_simd_path,
    simd_path,
    simd_paths,
)

A, B, START, RIGHT = 0x01, 0x02, 0x08, 0x80
EPISODE_FRAMES, TITLE_FRAMES = 1_500, 120
DRAWN_OF = 7
"""one frame of so many is drawn by every path: neighbours look alike"""
GREY_SIZES = ((84, 84), (60, 101), (240, 256))
LANES, SKIP = 6, 2
RUN_FRAMES = 30

Comparison: TypeAlias = tuple[int, str | None]
Comparisons: TypeAlias = Generator[Comparison, None, None]
Check: TypeAlias = Callable[[Cartridge], Comparisons]


@dataclass(frozen=True)
class Checked:
    """What one check found in its time."""

    name: str
    frames: int
    """how many were compared, and equal"""
    difference: str | None
    """the first, which ended the check; None: there was none"""
    seconds: float


def random_play(seed: int) -> Iterator[int]:
    """Buttons of one episode: gets past a title screen, then mostly to the right, each choice held for a while."""
    chance = random.Random(seed)
    frames = 0
    while frames < EPISODE_FRAMES:
        if frames < TITLE_FRAMES:
            held, length = chance.choice((0, START)), 4
        else:
            held, length = _choice(chance), chance.randrange(2, 40)
        for _ in range(min(length, EPISODE_FRAMES - frames)):
            yield held
        frames += length


def _choice(chance: random.Random) -> int:
    anything = chance.randrange(256) & ~START
    what = chance.random()
    if what < 0.01:
        return START  # the pause is a way of its own
    return RIGHT | anything & (A | B) if what < 0.7 else anything


def check_code(cartridge: Cartridge) -> Comparisons:
    """The whole state after each frame, recompiled and interpreted."""
    for seed in count():
        expected, found = Console(cartridge), Console(cartridge)
        expected.interpret = True
        for frame, buttons in enumerate(random_play(seed)):
            expected.frame(buttons)
            found.frame(buttons)
            if expected.save() != found.save():
                other = found.fields()
                names = [name for name, value in expected.fields().items() if other[name] != value]
                yield 0, f"frame {frame} of seed {seed} differs in {', '.join(names)}"
            yield 1, None


def check_paths(cartridge: Cartridge) -> Comparisons:
    """The same frame drawn by each SIMD path, in every form."""
    before = simd_path()
    try:
        for seed in count():
            console = Console(cartridge)
            for frame, buttons in enumerate(random_play(seed)):
                if frame % DRAWN_OF:
                    console.frame(buttons)
                    continue
                for path, kinds in _unlike_plain(console, buttons).items():
                    yield 0, f"frame {frame} of seed {seed} is not the same by {path} as by plain: {', '.join(kinds)}"
                yield 1, None
    finally:
        set_simd_path(before)


def _unlike_plain(console: Console, buttons: int) -> dict[str, list[str]]:
    """The paths that draw something else than the plain one, and what."""
    state = console.save()
    pictures = {}
    for path in simd_paths():
        set_simd_path(path)
        console.load(state)
        pictures[path] = _draw(console, buttons)
    unlike = {path: _differing(found, pictures["plain"]) for path, found in pictures.items()}
    return {path: kinds for path, kinds in unlike.items() if kinds}


def check_threads(cartridge: Cartridge) -> Comparisons:
    """A pool with one thread and one with two: every picture, and every state."""
    lanes = np.arange(LANES, dtype=np.int32)
    for seed in count():
        one, two = (Pool(cartridge, PoolConfig(lanes=LANES, threads=threads, skip=SKIP)) for threads in (1, 2))
        shown = (one.new_frames(), two.new_frames())
        plays = [list(random_play(seed * LANES + lane)) for lane in range(LANES)]
        for step in range(EPISODE_FRAMES // SKIP):
            buttons = np.array([play[SKIP * step] for play in plays], dtype=np.uint8)
            one.step(buttons, shown[0])
            two.step(buttons, shown[1])
            if not np.array_equal(*shown):
                yield 0, f"step {step} of seed {seed} shows other pictures with two threads than with one"
            if not np.array_equal(one.save_states(lanes), two.save_states(lanes)):
                yield 0, f"step {step} of seed {seed} ends in another state with two threads than with one"
            yield SKIP * LANES, None


def check_states(cartridge: Cartridge) -> Comparisons:
    """Save, run, load, run: the second run is the first."""
    for seed in count():
        console = Console(cartridge)
        play = list(random_play(seed))
        for frame in range(0, EPISODE_FRAMES, RUN_FRAMES):
            buttons = play[frame : frame + RUN_FRAMES]
            state = console.save()
            first = _run(console, buttons)
            console.load(state)
            kinds = _differing(_run(console, buttons), first)
            if kinds:
                yield (
                    0,
                    f"{RUN_FRAMES} frames from frame {frame} of seed {seed} are not the same twice: {', '.join(kinds)}",
                )
            yield RUN_FRAMES, None


def _run(console: Console, buttons: list[int]) -> dict[str, bytes]:
    for held in buttons[:-1]:
        console.frame(held)
    return _draw(console, buttons[-1])


def _draw(console: Console, buttons: int) -> dict[str, bytes]:
    """All that can be seen of the next frame."""
    console.frame(buttons, draw=True)
    seen = {"state": console.save(), "indices": console.indices().tobytes(), "RGB": console.rgb().tobytes()}
    return seen | {f"grey {height}x{width}": console.grey(height, width).tobytes() for height, width in GREY_SIZES}


def _differing(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    return [kind for kind, seen in found.items() if seen != expected[kind]]


CHECKS: dict[str, tuple[Check, float]] = {
    "recompiled and interpreted": (check_code, 0.5),
    "SIMD paths": (check_paths, 0.2),
    "one thread and two": (check_threads, 0.15),
    "save, run, load, run": (check_states, 0.15),
}
"""each with its part of the time"""


def check_engine(
    cartridge: Cartridge, seconds: float, tell: Callable[[str, float], None] = lambda doing, part: None
) -> list[Checked]:
    """All checks that can be made here, in about this time; `tell` hears which one, and which part of all is done."""
    chosen = {name: check for name, check in CHECKS.items() if check[0] is not check_code or cartridge.recompiled}
    whole = sum(part for _, part in chosen.values())
    checked, done = [], 0.0
    for name, (check, part) in chosen.items():
        share = part / whole
        with closing(check(cartridge)) as comparisons:
            checked.append(_compare(name, comparisons, seconds * share, _telling(tell, name, done, share)))
        done += share
    return checked


def _telling(tell: Callable[[str, float], None], name: str, done: float, share: float) -> Callable[[float], None]:
    return lambda part: tell(name, done + share * part)


def _compare(name: str, comparisons: Comparisons, seconds: float, watch: Callable[[float], None]) -> Checked:
    frames, taken, begun = 0, 0.0, time.perf_counter()
    for compared, difference in comparisons:
        frames += compared
        taken = time.perf_counter() - begun
        watch(min(1.0, taken / seconds))
        if difference is not None or taken >= seconds:
            return Checked(name, frames, difference, taken)
    return Checked(name, frames, None, taken)
