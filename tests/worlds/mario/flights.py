"""Mario flown through levels of the real game, past walls and unhurt, for tests of what is seen on the way."""

from collections.abc import Iterator

import numpy as np

from respawn.worlds.mario import ram
from respawn.worlds.mario.engine import Cartridge, Console, open_cartridge
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.starts import begin_level
from the_game import needed_rom

RIGHT, B = 0x80, 0x02
_PASSES_WALLS = 0x0716
_SCREEN_TOP, _GROUND = 40, 190


def the_cartridge() -> Cartridge:
    return open_cartridge(needed_rom())


def fly(cartridge: Cartridge, level: str, frames: int, seed: int = 0) -> Iterator[Console]:
    """The console after each frame. Mario wanders up and down as he goes right, so that nothing stays out of reach."""
    random = np.random.default_rng(seed)
    console = begin_level(cartridge, find_level(level))
    height, wanted = 176, 120
    for frame in range(frames):
        console.poke(ram.INJURY_TIMER, 8)
        console.poke(ram.TIME_DIGITS, 3)
        if frame > 20:
            console.poke(_PASSES_WALLS, 1)
            if random.random() < 0.02:
                wanted = int(random.integers(_SCREEN_TOP, _GROUND))
            height += int(np.clip(wanted - height, -3, 3))
            console.poke(ram.Y_PAGE, 1)
            console.poke(ram.Y_LOW, height)
            console.poke(ram.Y_SPEED, 0)
        console.frame(RIGHT | B if random.random() < 0.95 else 0, draw=True)
        yield console


def sprites(memory: ram.Bytes) -> ram.Integers:
    """[64, 4]: line, tile, attributes and column of each sprite, as the game will draw them in the next frame."""
    listed = memory[0x0200:0x0300].reshape(64, 4).astype(np.int32)
    listed[:, 0] += 1
    return listed
