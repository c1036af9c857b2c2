"""Consoles: one to look at, or a pool of many that run in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from respawn.errors import ConfigError, RomError
from respawn.worlds.mario._engine import (
    Cartridge,
    Console,
    console_bytes,
    engine_version,
    set_simd_path,
    simd_path,
    simd_paths,
)
from respawn.worlds.mario._engine import Pool as _NativePool
from respawn.worlds.mario.rom import Rom

__all__ = [
    "Bytes",
    "Cartridge",
    "Console",
    "Numbers",
    "Pool",
    "PoolConfig",
    "console_bytes",
    "engine_version",
    "open_cartridge",
    "open_console",
    "set_simd_path",
    "simd_path",
    "simd_paths",
]

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int32]
PictureKind: TypeAlias = Literal["none", "grey", "rgb", "indices"]

RAM_END = 0x2000
"""Behind the last address that reads RAM: 2 KiB, four times over."""
SCREEN = {"height": 240, "width": 256}


@dataclass(frozen=True)
class PoolConfig:
    """What a pool of consoles runs and shows."""

    lanes: int
    """how many consoles"""
    threads: int = 1
    """how many threads step them, the caller's included; no number of threads changes a byte"""
    skip: int = 4
    """frames a step, with the same buttons held; only the last one is drawn"""
    kind: PictureKind = "grey"
    """grey at any size, RGB or palette indices as large as the screen (240 lines of 256), or nothing"""
    height: int = 84
    """of a grey picture, 1 to 1024; the others have the screen's"""
    width: int = 84
    """of a grey picture, 1 to 1024; the others have the screen's"""
    stack: int = 4
    """how many pictures, one a step, an observation holds; the newest is the last"""
    max_of_two: bool = False
    """draw the last two frames of a step and keep the brighter of each pixel: for sprites that flicker"""
    watch: tuple[int, ...] = ()
    """addresses of RAM that each step reports, its mirrors up to $1FFF included"""
    interpret: bool = False
    """use no recompiled code"""

    def __post_init__(self) -> None:
        """Refuse what is no number, addresses that are not RAM and what would have no effect.

        The native pool judges the rest.
        """
        for name in ("lanes", "threads", "skip", "height", "width", "stack"):
            if not _is_whole(getattr(self, name)):
                raise ConfigError(f"{name} must be a whole number that is not huge, and {getattr(self, name)!r} came")
        if not isinstance(self.watch, tuple):
            raise ConfigError(f"watch must be a tuple of addresses of RAM, and {self.watch!r} came")
        for address in self.watch:
            if not (_is_whole(address) and 0 <= address < RAM_END):
                raise ConfigError(f"only RAM can be watched, addresses 0 to {RAM_END - 1}, and {address!r} came")
        for name in ("max_of_two", "interpret"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be True or False, and {getattr(self, name)!r} came")
        self._check_kind()

    def _check_kind(self) -> None:
        if self.kind not in get_args(PictureKind):
            raise ConfigError(f"kind must be 'none', 'grey', 'rgb' or 'indices', and {self.kind!r} came")
        if self.kind == "none" and self.max_of_two:
            raise ConfigError("max_of_two is about pictures, and kind 'none' shows none; leave out one of the two")
        if self.kind in {"rgb", "indices"}:
            for name, size in SCREEN.items():
                if getattr(self, name) not in {size, getattr(PoolConfig, name)}:
                    raise ConfigError(
                        f"a picture of kind {self.kind!r} has the screen's {name}, {size}, and {getattr(self, name)} "
                        "came; leave it out, or take kind='grey'"
                    )


def open_cartridge(rom: Rom, *, interpret: bool = False) -> Cartridge:
    """The game, with its program recompiled for this machine where that is possible.

    The first time a game is opened, this takes as long as compiling it does, and says so.

    Args:
      rom: The game.
      interpret: Do not recompile.
    """
    if not isinstance(rom, Rom):
        raise TypeError(
            f"a Rom is opened, and {_described(rom)} came; pass find_rom(path), from respawn.worlds.mario.rom"
        )
    try:
        cartridge = Cartridge(rom.data)
    except ValueError as error:
        raise RomError(f"{rom.origin} cannot be played: {error}") from None
    if not interpret:
        _recompile(cartridge, rom)
    return cartridge


def open_console(rom: Rom, *, interpret: bool = False) -> Console:
    """A console that was just switched on; see `open_cartridge`."""
    return Console(open_cartridge(rom, interpret=interpret))


def _recompile(cartridge: Cartridge, rom: Rom) -> None:
    # Imported only now: whoever interprets needs no compiler.
    from respawn.worlds.mario.recompiler import ensure_code, say_on_stderr

    library = ensure_code(cartridge, rom.data)
    if library is None:
        return
    try:
        cartridge.load_code(str(library))
    except ValueError as error:
        say_on_stderr(f"the game's program is interpreted: {error}")


class Pool:
    """Many consoles of one game, stepped in one call.

    Each lane is a console that was just switched on, with its pictures all black. What a lane does depends only on its
    own state and its own buttons. Arrays are the caller's, C-contiguous and of exactly the shape and dtype named; any
    other raises TypeError or ValueError with a sentence, and nothing has happened. A step allocates nothing and runs
    without the GIL. Several threads may call; they take turns. A pool that was made before a fork works in the child.
    """

    def __init__(self, cartridge: Cartridge, config: PoolConfig) -> None:
        if not isinstance(cartridge, Cartridge):
            raise TypeError(
                f"a pool plays a Cartridge, and {_described(cartridge)} came; pass open_cartridge(find_rom())"
            )
        if not isinstance(config, PoolConfig):
            raise TypeError(f"a pool takes a PoolConfig, and {_described(config)} came; pass PoolConfig(lanes=...)")
        self.config = config
        try:
            self._native = _NativePool(
                cartridge,
                config.lanes,
                threads=config.threads,
                skip=config.skip,
                kind=config.kind,
                height=config.height,
                width=config.width,
                stack=config.stack,
                max_of_two=config.max_of_two,
                watch=np.array(config.watch, dtype=np.uint16) if config.watch else None,
                interpret=config.interpret,
            )
        except MemoryError:
            raise ConfigError(
                f"there is not enough memory for {config.lanes:,} consoles with {config.stack} pictures each; "
                "ask for fewer"
            ) from None
        except (ValueError, RuntimeError) as error:  # the latter: the system does not start so many threads
            raise ConfigError(f"there can be no such pool of consoles: {error}") from None

    @property
    def lanes(self) -> int:
        """How many consoles there are."""
        return self._native.lanes

    @property
    def threads(self) -> int:
        """How many threads step them, the caller's included."""
        return self._native.threads

    @property
    def recompiled(self) -> bool:
        """Whether the consoles run recompiled code."""
        return self._native.recompiled

    @property
    def state_bytes(self) -> int:
        """The size of one console's state."""
        return self._native.state_bytes

    @property
    def frame_shape(self) -> tuple[int, ...] | None:
        """Of one lane's pictures: [stack, height, width], with a last axis of 3 for RGB; None if nothing is shown."""
        return self._native.frame_shape

    def new_frames(self, count: int | None = None) -> Bytes:
        """Black pictures, for all lanes or for `count` of them."""
        if self.frame_shape is None:
            raise ConfigError("this pool shows no pictures; make it with kind='grey', 'rgb' or 'indices'")
        if count is None:
            count = self.lanes
        elif not (_is_whole(count) and count >= 0):
            raise ValueError(f"count must be a whole number of lanes, 0 or more, and {count!r} came")
        return np.zeros((count, *self.frame_shape), dtype=np.uint8)

    def new_ram(self) -> Bytes:
        """Room for what is watched, uint8[lanes, addresses]."""
        if not self.config.watch:
            raise ConfigError("this pool watches no addresses; make it with watch=(...)")
        return np.zeros((self.lanes, len(self.config.watch)), dtype=np.uint8)

    def step(
        self, buttons: Bytes, frames: Bytes | None = None, ram: Bytes | None = None, restart: Numbers | None = None
    ) -> None:
        """Restart the lanes that ask for it, then run every lane for `skip` frames.

        Args:
          buttons: What is held, uint8[lanes], or uint8[lanes, 2] for both controllers; from bit 0 on: A, B, Select,
            Start, Up, Down, Left, Right.
          frames: Gets the pictures of all lanes, uint8[lanes, *frame_shape], oldest first. None: they are drawn all the
            same, so that a later observation has them.
          ram: Gets the watched bytes, uint8[lanes, addresses].
          restart: int32[lanes]: the entry of the table of starts that a lane goes back to first, or -1.
        """
        self._native.step(buttons, frames, ram, restart)

    def observe(self, frames: Bytes | None = None, ram: Bytes | None = None) -> None:
        """Write what `step` would write, without running."""
        self._native.observe(frames, ram)

    def set_starts(self, states: Bytes, frames: Bytes | None = None) -> None:
        """Copy the table that lanes restart from.

        Args:
          states: uint8[entries, state_bytes], as `save_states` gives them.
          frames: The pictures each entry begins with, uint8[entries, *frame_shape]; None: black.
        """
        self._native.set_starts(states, frames)

    def load(self, lanes: Sequence[int] | Numbers, starts: Sequence[int] | Numbers) -> None:
        """Restart these lanes from these entries of the table."""
        self._native.load(_numbers(lanes), _numbers(starts))

    def save_states(self, lanes: Sequence[int] | Numbers, out: Bytes | None = None) -> Bytes:
        """Copy the states of these lanes to `out`, uint8[lanes, state_bytes], or to a new array."""
        which = _numbers(lanes)
        saved = np.empty((len(which), self.state_bytes), dtype=np.uint8) if out is None else out
        self._native.save_states(which, saved)
        return saved

    def load_states(self, lanes: Sequence[int] | Numbers, states: Bytes) -> None:
        """Set the states of these lanes; their pictures become black.

        Raises ValueError, and changes nothing, for bytes that no console of this engine can have saved.
        """
        self._native.load_states(_numbers(lanes), states)

    def save_frames(self, lanes: Sequence[int] | Numbers, out: Bytes | None = None) -> Bytes:
        """Copy the pictures of these lanes to `out`, uint8[lanes, *frame_shape], or to a new array."""
        which = _numbers(lanes)
        saved = self.new_frames(len(which)) if out is None else out
        self._native.save_frames(which, saved)
        return saved

    def load_frames(self, lanes: Sequence[int] | Numbers, frames: Bytes | None) -> None:
        """Set the pictures of these lanes; None: black."""
        self._native.load_frames(_numbers(lanes), frames)


def _numbers(values: Sequence[int] | Numbers) -> Numbers:
    if isinstance(values, np.ndarray) and values.ndim > 0:
        return values
    if not isinstance(values, Sequence):
        raise TypeError(f"lanes and starts are lists of whole numbers, such as [0], and {values!r} came")
    if not all(_is_whole(value) for value in values):
        raise ValueError(f"lanes and starts are whole numbers, none of them huge, and {values!r} came")
    return np.array(values, dtype=np.int32)


def _is_whole(value: object) -> bool:
    """Whether it is a number that 32 bits can hold."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) < 1 << 31


def _described(value: object) -> str:
    return repr(value) if isinstance(value, str | Path) else f"an object of type {type(value).__name__}"
