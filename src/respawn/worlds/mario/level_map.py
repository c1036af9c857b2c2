"""A picture of a whole level, taken by a console that flies through it. Kept in the user's cache, never shipped."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from respawn.contracts.world import Frame
from respawn.errors import WorldError
from respawn.worlds.mario import ram
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.engine import Console, engine_version, open_cartridge
from respawn.worlds.mario.files import user_cache_folder
from respawn.worlds.mario.levels import Level
from respawn.worlds.mario.rom import Rom
from respawn.worlds.mario.starts import begin_level

TOP = 32
"""The line of the screen that maps begin at; above it the score and the clock are shown."""
SCREEN_WIDTH = 256

_VERSION = 2
_MOST_FRAMES = 8_000
_STANDING_FRAMES = 120
_FRAMES_TO_VANISH, _FRAMES_TO_TAKE_OFF = 4, 60
_SPEED = 0x30
"""In sixteenths of a pixel a frame; blocks are laid out hardly faster."""
_HEIGHT_ABOVE = 0x80
"""A page above the picture, where nothing is run into."""
_WARP_ZONE = 0x34
"""Stands among the enemies, and lets the screen go on for whoever comes over the ceiling."""
_LOOP_COMMAND, _COLOUR_CYCLE, _SHINING = 0x0745, 0x06D4, (2, 3)
_PAGE_LAID_OUT = 0x0725
_FLAGPOLE, _PIXELS_BEHIND_FLAGPOLE = 0x25, 13 * 16
_BLOCK_ROWS, _BLOCK_COLUMNS = 13, 16
_FEWEST_NEW, _MOST_NEW = 48, 224


def level_map(level: Level, rom: Rom) -> Frame:
    """The first area of a level in which Mario obeys, uint8 [208, width, 3]; its column x is the game's x.

    Enemies and lifts are left out, for they would be cut where two pictures meet. Side rooms are areas of their own,
    and not on the map.
    """
    file = _cached_file(level, rom)
    with contextlib.suppress(OSError, UnidentifiedImageError), Image.open(file) as picture:
        return np.array(picture.convert("RGB"))
    drawn = draw_level(begin_level(open_cartridge(rom), level), level)
    _keep(file, drawn)
    return drawn


def draw_level(console: Console, level: Level) -> Frame:
    """Fly from a level's start to its end, and put together what was seen."""
    _take_off(console)
    seen_to, end = SCREEN_WIDTH, None
    pictures = [console.rgb()[TOP:]]
    for screen_x in _flight(console):
        new = screen_x + SCREEN_WIDTH - seen_to
        end = _end_behind_flagpole(console) if end is None else end
        arrived = end is not None and screen_x + SCREEN_WIDTH >= end
        if (new >= _FEWEST_NEW and _coins_shine(console)) or new >= _MOST_NEW or arrived:
            pictures.append(console.rgb()[TOP:, SCREEN_WIDTH - new :])
            seen_to += new
        if arrived:
            return np.concatenate(pictures, axis=1)[:, :end]
    if end is not None:
        raise WorldError(
            f"the flight through {level} should reach its end at {end}, and stood still at {seen_to}; "
            "run 'respawn doctor engine', and try another --world.rom"
        )
    # Castles and caves have no flagpole: there the screen stops by itself.
    new = _screen_x(console) + SCREEN_WIDTH - seen_to
    return np.concatenate([*pictures, console.rgb()[TOP:, SCREEN_WIDTH - new :]], axis=1)


def _take_off(console: Console) -> None:
    """Let Mario vanish above the picture, and wait until coins shine, which they do for a third of the time."""
    for frame in range(_FRAMES_TO_TAKE_OFF):
        _fly_frame(console, speed=0)
        if frame >= _FRAMES_TO_VANISH and _coins_shine(console):
            return


def _flight(console: Console) -> Iterator[int]:
    """Where the left edge of the picture is after each frame, until it stands."""
    standing, last_x = 0, _screen_x(console)
    for _ in range(_MOST_FRAMES):
        # What a frame shows was scrolled to at the end of the one before.
        shown_x = _screen_x(console)
        _fly_frame(console, _SPEED)
        standing = standing + 1 if shown_x == last_x else 0
        last_x = shown_x
        yield shown_x
        if standing >= _STANDING_FRAMES:
            return


def _fly_frame(console: Console, speed: int) -> None:
    for address, value in ((ram.Y_PAGE, 0), (ram.Y_LOW, _HEIGHT_ABOVE), (ram.Y_SPEED, 0), (ram.X_SPEED, speed)):
        console.poke(address, value)
    console.poke(ram.TIME_DIGITS, 4)  # the clock must not run out on the way
    console.poke(_LOOP_COMMAND, 0)  # a maze must not turn the map back
    for slot in range(ram.ENEMY_SLOTS):
        if console.read(ram.ENEMY_KIND + slot) != _WARP_ZONE:
            console.poke(ram.ENEMY_ACTIVE + slot, 0)
    console.frame(BUTTONS["RIGHT"] | BUTTONS["B"] if speed else 0, draw=True)


def _coins_shine(console: Console) -> bool:
    return console.read(_COLOUR_CYCLE) in _SHINING


def _end_behind_flagpole(console: Console) -> int | None:
    """Where the level ends if its flagpole is laid out already: behind the castle, where nothing new comes."""
    blocks = console.ram()[ram.BLOCKS : ram.BLOCKS + ram.BLOCK_BYTES].reshape(2, _BLOCK_ROWS, _BLOCK_COLUMNS)
    found = np.argwhere(blocks == _FLAGPOLE)
    if not len(found):
        return None
    half, _, column = found[0].tolist()
    page = console.read(_PAGE_LAID_OUT)
    page -= page % 2 != half  # two pages are kept, an even and an odd one
    return int(page * SCREEN_WIDTH + column * 16 + _PIXELS_BEHIND_FLAGPOLE)


def _screen_x(console: Console) -> int:
    return console.read(ram.SCREEN_PAGE) * SCREEN_WIDTH + console.read(ram.SCREEN_LOW)


def _cached_file(level: Level, rom: Rom) -> Path:
    return user_cache_folder() / "maps" / f"{rom.sha256[:16]}-{engine_version()}-{_VERSION}-{level}.png"


def _keep(file: Path, picture: Frame) -> None:
    """Write aside and rename; a cache that cannot be written is no mishap."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            Image.fromarray(picture).save(aside, "PNG")
            aside.replace(file)
        finally:
            aside.unlink(missing_ok=True)
