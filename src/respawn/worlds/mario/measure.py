"""How fast the engine runs here: each measurement a thing that can be run for a while, again and again."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from respawn.errors import WorldError
from respawn.worlds.mario.engine import Bytes, Cartridge, Pool, PoolConfig, set_simd_path, simd_path

SKIP, SIDE, STACK = 4, 84, 4
EPISODE_STEPS = 400
"""decisions until a lane goes back to the start; lanes do so one after the other"""
MOST_WARM_LANES = 512
"""lanes that play until the measurements begin; more begin as copies of these, or it would take minutes"""

A, B, START, LEFT, RIGHT = 0x01, 0x02, 0x08, 0x40, 0x80
SIMPLE_ACTIONS = np.array([0, RIGHT, RIGHT | A, RIGHT | B, RIGHT | A | B, A, LEFT], np.uint8)

_GAME_MODE, _PLAYING = 0x0770, 1
_PLAYER_STATE, _CONTROLLED = 0x000E, 8
_LONGEST_START_FRAMES = 1_000
_ACTION_ROWS = 4_096


@dataclass(frozen=True)
class Timing:
    """What was done in how much time."""

    count: int
    seconds: float
    cpu_seconds: float
    """of the processor; less than `seconds` where other programs took their share"""

    @property
    def per_second(self) -> float:
        """The pace."""
        return self.count / self.seconds


class Measurement(Protocol):
    """Something that can be run for a while."""

    def run(self, seconds: float) -> Timing:
        """Go on for about this long, at least once."""


def level_start(cartridge: Cartridge) -> Bytes:
    """The state of a console in which level 1-1 has just begun to play, uint8[1, state_bytes]."""
    config = PoolConfig(lanes=1, skip=1, kind="none", watch=(_GAME_MODE, _PLAYER_STATE))
    pool = Pool(cartridge, config)
    ram, buttons = pool.new_ram(), np.zeros(1, np.uint8)
    for frame in range(_LONGEST_START_FRAMES):
        # Tapped, not held: the game listens for the moment Start goes down. In the level it would be the pause.
        buttons[0] = START if ram[0, 0] != _PLAYING and frame % 8 < 4 else 0
        pool.step(buttons, ram=ram)
        if ram[0].tolist() == [_PLAYING, _CONTROLLED]:
            return pool.save_states([0])
    raise WorldError(
        f"level 1-1 should play some seconds after Start, and does not after {_LONGEST_START_FRAMES} frames; "
        "run 'respawn doctor engine', and try another --rom"
    )


class RandomPlay:
    """A pool that plays random simple actions; each lane goes back to the start after 400 of them."""

    def __init__(
        self,
        cartridge: Cartridge,
        config: PoolConfig,
        start: Bytes,
        states: Bytes,
        path: str = "",
        cores: frozenset[int] = frozenset(),
    ) -> None:
        lanes = config.lanes
        self.pool = Pool(cartridge, config)
        self.pool.set_starts(start)
        self.pool.load_states(np.arange(lanes, dtype=np.int32), states)
        self._frames = None if config.kind == "none" else self.pool.new_frames()
        self._path, self._cores = path, cores
        self._actions = np.random.default_rng(0).choice(SIMPLE_ACTIONS, (_ACTION_ROWS, lanes))
        begins = np.arange(lanes) * EPISODE_STEPS // lanes
        rows = np.arange(EPISODE_STEPS)[:, np.newaxis]
        self._restarts = np.where(begins == rows, 0, -1).astype(np.int32)
        self._steps = 0

    def step(self) -> None:
        """One decision of each lane."""
        self.pool.step(
            self._actions[self._steps % _ACTION_ROWS],
            self._frames,
            restart=self._restarts[self._steps % EPISODE_STEPS],
        )
        self._steps += 1

    def run(self, seconds: float) -> Timing:
        """Decisions."""
        with _simd(self._path), pinned(self._cores):
            return repeat(self.step, self.pool.lanes, seconds)


class Snapshots:
    """Every lane's state is saved and loaded again, into memory that is there already."""

    def __init__(self, cartridge: Cartridge, states: Bytes) -> None:
        self._pool = Pool(cartridge, PoolConfig(lanes=len(states), kind="none"))
        self._lanes = np.arange(len(states), dtype=np.int32)
        self._states = states.copy()
        self._pool.load_states(self._lanes, self._states)

    def _save_and_load(self) -> None:
        self._pool.save_states(self._lanes, self._states)
        self._pool.load_states(self._lanes, self._states)

    def run(self, seconds: float) -> Timing:
        """Consoles that were saved and loaded."""
        return repeat(self._save_and_load, len(self._lanes), seconds)


class Workload:
    """What all measurements begin from: lanes that began 1-1 at different times and have played at random since."""

    def __init__(self, cartridge: Cartridge, lanes: int) -> None:
        self._cartridge = cartridge
        self._grey = PoolConfig(lanes=lanes, skip=SKIP, kind="grey", height=SIDE, width=SIDE, stack=STACK)
        self._blind = replace(self._grey, kind="none")
        self._start = level_start(cartridge)
        self._states = self._played(min(lanes, MOST_WARM_LANES))[_copied_lanes(lanes)]

    def on_one_core(self, other_paths: Sequence[str]) -> dict[str, Measurement]:
        """All that needs one core, by the names the results have; the SIMD paths are those not measured anyway."""
        configs = {
            "decisions_per_second": self._grey,
            "decisions_per_second_no_draw": self._blind,
            "decisions_per_second_max_of_two": replace(self._grey, max_of_two=True),
            "interpreter_decisions_per_second": replace(self._grey, interpret=True),
            "interpreter_decisions_per_second_no_draw": replace(self._blind, interpret=True),
        }
        found: dict[str, Measurement] = {name: self._play(config) for name, config in configs.items()}
        found |= {f"by_path.{path}": self._play(self._grey, path) for path in other_paths}
        return found | {"snapshot": Snapshots(self._cartridge, self._states)}

    def on_two_cores(self, cores: frozenset[int]) -> Measurement:
        """The first of them, by two threads."""
        # The second thread may use the cores that this one may use when it is made.
        with pinned(cores):
            return self._play(replace(self._grey, threads=2), cores=cores)

    def _played(self, lanes: int) -> Bytes:
        """The states of lanes that have played one whole episode's time."""
        states = np.repeat(self._start, lanes, axis=0)
        play = RandomPlay(self._cartridge, replace(self._blind, lanes=lanes), self._start, states)
        for _ in range(EPISODE_STEPS):
            play.step()
        return play.pool.save_states(np.arange(lanes, dtype=np.int32))

    def _play(self, config: PoolConfig, path: str = "", cores: frozenset[int] = frozenset()) -> RandomPlay:
        return RandomPlay(self._cartridge, config, self._start, self._states, path, cores)


def _copied_lanes(lanes: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Which of the lanes that played each lane is a copy of: one that goes back to the start when it does."""
    return np.arange(lanes) * min(lanes, MOST_WARM_LANES) // lanes


def repeat(work: Callable[[], None], count: int, seconds: float) -> Timing:
    """Do it for about this long, at least once; `count` is how many things one time does."""
    done, cpu, begun = 0, time.process_time(), time.perf_counter()
    while (taken := time.perf_counter() - begun) < seconds or not done:
        work()
        done += count
    return Timing(done, taken, time.process_time() - cpu)


def measuring_cores() -> tuple[int, ...]:
    """Two usable cores that share no hardware if there are two, else one; none where the system has no such choice."""
    if not hasattr(os, "sched_getaffinity"):
        return ()
    usable = sorted(os.sched_getaffinity(0), reverse=True)  # the first ones get the system's own work
    first = usable[0]
    others = [core for core in usable[1:] if core not in _siblings(first)]
    return (first, others[0]) if others else (first, *usable[1:2])


@contextmanager
def pinned(cores: frozenset[int]) -> Iterator[None]:
    """This thread, and what it starts meanwhile, runs on these cores only; no cores: nothing changes."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _siblings(core: int) -> set[int]:
    """The logical cores of the same physical one, itself included, as far as the system tells."""
    try:
        text = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
        ranges = [part.split("-") for part in text.strip().split(",")]
        return {number for ends in ranges for number in range(int(ends[0]), int(ends[-1]) + 1)}
    except (OSError, ValueError):
        return {core}


@contextmanager
def _simd(path: str) -> Iterator[None]:
    if not path:
        yield
        return
    before = simd_path()
    set_simd_path(path)
    try:
        yield
    finally:
        set_simd_path(before)
