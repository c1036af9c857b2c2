"""Playing a controller movie from power-on, and where the game got to."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from respawn.worlds.mario.fm2 import HARD_RESET, SOFT_RESET, Movie

DEAD_LINES = 2
"""FCEUX keeps the picture chip off for two frames after power-on and reset; a console has no such frames to play."""

COASTING_FRAMES = 600
"""Movies end with their last button; Mario may still be in the air, on his way to the axe."""

_GAME_MODE, _VICTORY = 0x0770, 2
_WORLD, _STAGE, _LIVES, _LAST_WORLD = 0x075F, 0x075C, 0x075A, 7


class Bytes(Protocol):
    """An array of bytes."""

    def tobytes(self) -> bytes:
        """Its bytes."""


class Console(Protocol):
    """What a movie needs of a console."""

    def frame(self, buttons: int = 0, buttons2: int = 0) -> None:
        """Run to the next vblank."""

    def read(self, address: int) -> int:
        """A byte of memory, without side effects."""

    def ram(self) -> Bytes:
        """The 2,048 bytes of RAM."""

    def save(self) -> bytes:
        """The whole state."""

    def load(self, state: bytes, /) -> None:
        """Go back to a state."""

    def reset(self) -> None:
        """Press the reset button."""


@dataclass(frozen=True)
class Played:
    """Where a movie got to, read after its last line; the facts of the game are None for another game."""

    frames: int
    """that the console ran for the movie: its lines, less two for power-on and two for each reset"""
    world: int | None
    stage: int | None
    lives: int | None
    """as on the screen between levels, this one included; 0 when the game is over"""
    won: bool | None
    """whether Bowser's axe in 8-4 was reached, during the movie or up to ten seconds after it"""
    won_at_frame: int | None
    """counted from 1; more than `frames` if it was after the movie"""
    ram_hash: str
    """SHA-256 of the 2,048 bytes of RAM"""


def play(
    movie: Movie, console: Console, *, is_mario: bool = True, on_frame: Callable[[int], None] | None = None
) -> Played:
    """Play a movie on a console that was just switched on.

    Args:
      movie: What to press.
      console: Must not have run a frame yet.
      is_mario: Whether the game is Super Mario Bros., whose memory can be understood.
      on_frame: Is told after each line how many have been dealt with.
    """
    frames, won_at_frame = 0, None
    for line, ran in enumerate(_lines(movie, console), start=1):
        frames += ran
        if is_mario and won_at_frame is None and ran and _is_won(console):
            won_at_frame = frames
        if on_frame is not None:
            on_frame(line)
    world, stage, lives = (console.read(address) for address in (_WORLD, _STAGE, _LIVES))
    ram_hash = hashlib.sha256(console.ram().tobytes()).hexdigest()
    if is_mario and won_at_frame is None:
        coasted = _coast(console)
        won_at_frame = None if coasted is None else frames + coasted
    return Played(
        frames=frames,
        world=world + 1 if is_mario else None,
        stage=stage + 1 if is_mario else None,
        lives=(lives + 1) % 256 if is_mario else None,
        won=won_at_frame is not None if is_mario else None,
        won_at_frame=won_at_frame,
        ram_hash=ram_hash,
    )


def _lines(movie: Movie, console: Console) -> Iterator[bool]:
    """Plays line after line; whether the console ran a frame for it."""
    switched_on = console.save() if any(command & HARD_RESET for command in movie.commands) else b""
    dead_lines, has_run = DEAD_LINES, False
    for buttons, buttons2, command in zip(movie.buttons, movie.buttons2, movie.commands, strict=True):
        if command:
            if command & HARD_RESET:
                console.load(switched_on)
            if command & SOFT_RESET and has_run:
                console.reset()
            dead_lines = DEAD_LINES
        if dead_lines:
            dead_lines -= 1
            yield False
            continue
        console.frame(buttons, buttons2)
        has_run = True
        yield True


def _coast(console: Console) -> int | None:
    """Let go of all buttons; after how many frames the game was won, if it was."""
    for frame in range(1, COASTING_FRAMES + 1):
        console.frame()
        if _is_won(console):
            return frame
    return None


def _is_won(console: Console) -> bool:
    return console.read(_GAME_MODE) == _VICTORY and console.read(_WORLD) == _LAST_WORLD
