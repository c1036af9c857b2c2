"""What was played, as a controller movie: the buttons of every frame from power-on, which any console can follow."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from respawn.errors import MovieError
from respawn.worlds.mario import ram
from respawn.worlds.mario.engine import Console, open_cartridge
from respawn.worlds.mario.fm2 import Movie, write_movie
from respawn.worlds.mario.levels import Level
from respawn.worlds.mario.movie import DEAD_LINES, Played, play
from respawn.worlds.mario.rom import Rom
from respawn.worlds.mario.starts import begin_level

FIRST_LEVEL = Level(1, 1)

_LONGEST_AFTERMATH_FRAMES = 3_000
_HEADER_BYTES = 16


def check_recordable(path: Path, levels: Sequence[str]) -> None:
    """Refuse what no movie can be written of, before anything is played for it."""
    if path.suffix.lower() != ".fm2":
        raise MovieError(f"a movie is written as .fm2, and {path.name!r} came; name another file")
    if list(levels) != [str(FIRST_LEVEL)]:
        raise MovieError(
            "a movie begins where the console is switched on, and from there Start leads to 1-1 only, but the level is "
            f"{', '.join(levels)}; leave out --movie, or add --level 1-1"
        )


def record(path: Path, rom: Rom, waited_frames: int, held: Sequence[int], about: str) -> Played:
    """Write an episode in 1-1 as a movie, play it on a console that was just switched on, and say where it got to.

    The movie goes on with nothing pressed until the game has left the level or the life, so that whoever plays it sees
    how it ended.

    Args:
      path: where to.
      rom: the game that was played.
      waited_frames: for how many frames Mario stood still before the first step.
      held: the buttons of each frame of the episode.
      about: one line about it.
    """
    check_recordable(path, [str(FIRST_LEVEL)])
    cartridge = open_cartridge(rom)
    pressed: list[int] = []
    console = begin_level(cartridge, FIRST_LEVEL, pressed.append)
    for buttons in [0] * waited_frames + list(held):
        console.frame(buttons)
        pressed.append(buttons)
    lives = console.read(ram.LIVES)
    for _ in range(_LONGEST_AFTERMATH_FRAMES):
        if _level(console) != FIRST_LEVEL or console.read(ram.LIVES) != lives:
            break
        console.frame(0)
        pressed.append(0)
    log = bytes(DEAD_LINES) + bytes(pressed)
    movie = Movie(log, bytes(len(log)), bytes(len(log)), _header(rom, log))
    # Beginning the level wrote to the console's memory; the movie must do without, so it is tried before it is kept.
    played = play(movie, Console(cartridge))
    if played.ram_hash != hashlib.sha256(console.ram().tobytes()).hexdigest():
        raise MovieError(
            f"the movie, played from power-on, does not lead where the episode led, so {path} was not written; "
            "run 'respawn doctor engine'"
        )
    write_movie(path, movie, about)
    return played


def _header(rom: Rom, log: bytes) -> dict[str, str]:
    """What FCEUX wants to know; it knows games by the MD5 of what is behind their header."""
    checksum = base64.b64encode(hashlib.md5(rom.data[_HEADER_BYTES:], usedforsecurity=False).digest()).decode()
    return {
        "version": "3",
        "emuVersion": "22020",
        "rerecordCount": "0",
        "palFlag": "0",
        "romFilename": "Super Mario Bros.",
        "romChecksum": f"base64:{checksum}",
        "guid": str(UUID(bytes=hashlib.sha256(log).digest()[:16])).upper(),
        "fourscore": "0",
        "microphone": "0",
        "port0": "1",
        "port1": "0",
        "port2": "0",
        "FDS": "0",
        "NewPPU": "0",
    }


def _level(console: Console) -> Level:
    return Level(console.read(ram.LEVEL_WORLD) + 1, console.read(ram.LEVEL_STAGE) + 1)
