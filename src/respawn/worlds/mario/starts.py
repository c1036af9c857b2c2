"""Where episodes begin: every level at the moment Mario obeys, as states of the console."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from respawn.errors import WorldError
from respawn.worlds.mario import ram
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.engine import Bytes, Cartridge, Console, Numbers, Pool, PoolConfig, open_cartridge
from respawn.worlds.mario.levels import Level
from respawn.worlds.mario.rom import Region, find_rom

_TITLE_FRAMES = 60
_LONGEST_FRAMES = 3_000
_TASK_PLAYING = 3


class ConsolePool(Protocol):
    """What the world needs of a pool of consoles; see `engine.Pool`."""

    @property
    def state_bytes(self) -> int:
        """The size of one console's state."""

    def step(self, buttons: Bytes, frames: Bytes | None = None, ram: Bytes | None = None) -> None:
        """Run every lane for as many frames as a decision holds."""

    def observe(self, frames: Bytes | None = None, ram: Bytes | None = None) -> None:
        """Write what `step` would write, without running."""

    def set_starts(self, states: Bytes) -> None:
        """Copy the table that lanes restart from."""

    def load(self, lanes: Numbers, starts: Numbers) -> None:
        """Restart these lanes from these entries of the table."""

    def save_states(self, lanes: Numbers) -> Bytes:
        """The states of these lanes."""

    def load_states(self, lanes: Numbers, states: Bytes) -> None:
        """Set the states of these lanes."""


class Game(Protocol):
    """A cartridge that worlds are made of; a fake one needs no ROM."""

    def pool(self, config: PoolConfig) -> ConsolePool:
        """Consoles that play it."""

    def level_starts(self, level: Level, most_waiting_frames: int, picture_size: int) -> "Starts":
        """The level's beginning, and after each frame of standing still."""


@dataclass(frozen=True)
class Starts:
    """Moments that episodes can begin at."""

    states: Bytes  # [entries, state_bytes]
    pictures: Bytes  # [entries, picture_size, picture_size] grey


class CartridgeGame:
    """The game on a cartridge."""

    def __init__(self, cartridge: Cartridge) -> None:
        self._cartridge = cartridge
        self._state_bytes = Pool(cartridge, PoolConfig(lanes=1, kind="none")).state_bytes

    def pool(self, config: PoolConfig) -> ConsolePool:
        """Consoles that play it."""
        return Pool(self._cartridge, config)

    def level_starts(self, level: Level, most_waiting_frames: int, picture_size: int) -> Starts:
        """See `Game`."""
        console = begin_level(self._cartridge, level)
        saved, pictures = [], []
        for frame in range(most_waiting_frames + 1):
            if frame > 0:
                console.frame(draw=True)
            saved.append(np.frombuffer(console.save(), np.uint8))
            pictures.append(console.grey(picture_size, picture_size))
        # A lone console's state is a pool's with a header before it.
        return Starts(np.stack(saved)[:, len(saved[0]) - self._state_bytes :].copy(), np.stack(pictures))


@lru_cache(maxsize=4)
def open_game(rom: str, region: Region) -> CartridgeGame:
    """The game in a file, or wherever `find_rom` finds it; opened once however many worlds play it."""
    found = find_rom(Path(rom) if rom else None, region=region, expect=region)
    return CartridgeGame(open_cartridge(found))


def begin_level(cartridge: Cartridge, level: Level, on_frame: Callable[[int], None] = lambda buttons: None) -> Console:
    """A console in which Mario obeys for the first time in a level.

    The title screen is told which level comes next, and Start is pressed; all else the game does itself, so timers,
    enemies and the second quest's rules are as they would be for someone who had played this far.

    Args:
      cartridge: the game.
      level: which.
      on_frame: is told what was pressed in each frame since power-on.
    """
    console = Console(cartridge)
    area_is_loading = False
    for frame in range(_LONGEST_FRAMES):
        if console.read(ram.MODE) == ram.MODE_TITLE:
            if frame < _TITLE_FRAMES:
                console.frame()
                on_frame(0)
                continue
            console.poke(ram.LEVEL_WORLD, level.world - 1)
            console.poke(ram.LEVEL_STAGE, level.stage - 1)
            console.poke(ram.AREA, level.area)
            # Tapped, not held: the game listens for the moment Start goes down.
            pressed = BUTTONS["START"] if frame % 8 < 4 else 0
            console.frame(pressed)
            on_frame(pressed)
            continue
        console.frame(draw=True)
        on_frame(0)
        area_is_loading |= console.read(ram.MODE_TASK) == 0
        plays = console.read(ram.MODE_TASK) == _TASK_PLAYING and console.read(ram.MODE) == ram.MODE_PLAYING
        if area_is_loading and plays and console.read(ram.TASK) == ram.TASK_CONTROLLED:
            return console
    raise WorldError(
        f"level {level} should play some seconds after Start, and does not after {_LONGEST_FRAMES} frames; "
        "run 'respawn doctor engine', and try another --world.rom"
    )
