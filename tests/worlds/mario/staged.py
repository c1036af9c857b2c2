"""The real game, begun wherever a test wants it to begin."""

from collections.abc import Callable

import numpy as np
from flights import RIGHT, B, the_cartridge

from respawn.worlds.mario import ram
from respawn.worlds.mario.engine import Console, Pool, PoolConfig
from respawn.worlds.mario.levels import Level
from respawn.worlds.mario.starts import ConsolePool, Starts, begin_level

PASSES_WALLS, SCROLL_LOCK, LOOPS = 0x0716, 0x0723, 0x0745
_LONGEST_FLIGHT, _FASTEST = 3_000, 40

Scene = Callable[[Console], None]


class StagedGame:
    """A game whose levels begin after a scene was set."""

    def __init__(self, scene: Scene = lambda console: None) -> None:
        self._cartridge = the_cartridge()
        self._scene = scene
        self._state_bytes = Pool(self._cartridge, PoolConfig(lanes=1, kind="none")).state_bytes

    def pool(self, config: PoolConfig) -> ConsolePool:
        return Pool(self._cartridge, config)

    def level_starts(self, level: Level, most_waiting_frames: int, picture_size: int) -> Starts:
        assert most_waiting_frames == 0
        console = begin_level(self._cartridge, level)
        self._scene(console)
        state = np.frombuffer(console.save(), np.uint8)[-self._state_bytes :]
        return Starts(state[None].copy(), console.grey(picture_size, picture_size)[None])


def fly_to(x: int, y: int, *, past_mazes: bool = False, unhurt: bool = False) -> Scene:
    """Mario is carried to a place and let go there; unhurt, if so said, for some seconds more."""

    def scene(console: Console) -> None:
        height = console.read(ram.Y_LOW)
        for _ in range(_LONGEST_FLIGHT):
            if place(console) >= x and height == y:
                break
            height += int(np.clip(y - height, -3, 3))
            speed = _FASTEST if place(console) < x else 0
            for address, value in (
                (ram.INJURY_TIMER, 20), (PASSES_WALLS, 1), (SCROLL_LOCK, 0), (ram.Y_PAGE, 1), (ram.Y_LOW, height),
                (ram.Y_SPEED, 0), (ram.X_SPEED, speed),
            ):  # fmt: skip
                console.poke(address, value)
            if past_mazes:
                console.poke(LOOPS, 0)
            console.frame(RIGHT | B if speed else 0, draw=True)
        assert place(console) >= x, f"the flight ended at {place(console)}"
        for address in (PASSES_WALLS, ram.X_SPEED):
            console.poke(address, 0)
        console.poke(ram.INJURY_TIMER, 20 if unhurt else 0)

    return scene


def poke(values: dict[int, int]) -> Scene:
    """Bytes are changed."""

    def scene(console: Console) -> None:
        for address, value in values.items():
            console.poke(address, value)

    return scene


def both(first: Scene, second: Scene) -> Scene:
    """One scene after another."""

    def scene(console: Console) -> None:
        first(console)
        second(console)

    return scene


def place(console: Console) -> int:
    """Where Mario is, from left to right."""
    return console.read(ram.X_PAGE) * 256 + console.read(ram.X_LOW)
