"""The native module: consoles, one at a time or many in one call."""

from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

Kind = Literal["none", "grey", "rgb", "indices"]

class Registers(TypedDict):
    """A 6502's registers, and the cycles it has run."""

    a: int
    x: int
    y: int
    s: int
    p: int
    pc: int
    cycle: int

class Cartridge:
    """A game: read once, shared by all consoles that play it."""

    def __init__(self, ines: bytes) -> None:
        """Read an iNES file; raises ValueError with one sentence if it cannot be played."""

    @property
    def mapper(self) -> int:
        """The number of its board."""

    @property
    def prg_bytes(self) -> int:
        """The size of the program in the file."""

    @property
    def chr_bytes(self) -> int:
        """The size of the tiles in the file; 0: they are 8 KiB of RAM."""

    @property
    def mirroring(self) -> Literal["horizontal", "vertical", "four-screen"]:
        """How the screens are arranged."""

    @property
    def program(self) -> bytes:
        """The 32 KiB at $8000-$FFFF."""

    @property
    def program_hash(self) -> str:
        """FNV-1a of the program, in hexadecimal."""

    @property
    def idle_heads(self) -> list[int]:
        """Where waiting loops begin."""

    @property
    def recompiled(self) -> bool:
        """Whether consoles made from now on run recompiled code."""

    def load_code(self, path: str) -> None:
        """Use recompiled code from a shared library; raises ValueError if it does not fit."""

    def drop_code(self) -> None:
        """Consoles made from now on interpret again."""

class Console:
    """One console, just switched on: for movies, tools and tests."""

    interpret: bool
    """never use recompiled code"""

    def __init__(self, cartridge: Cartridge) -> None:
        """Put the cartridge in and switch it on."""

    def frame(self, buttons: int = 0, buttons2: int = 0, draw: bool = False) -> None:
        """Run to the first instruction after vblank begins; draw=True keeps the picture."""

    def step(self) -> int:
        """Run one instruction, or take one interrupt; answers its cycles."""

    def reset(self) -> None:
        """Press the reset button."""

    def indices(self) -> NDArray[np.uint8]:
        """Palette indices of the last drawn frame, uint8[240, 256]."""

    def rgb(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3]."""

    def grey(self, height: int, width: int) -> NDArray[np.uint8]:
        """The last drawn frame in grey, uint8[height, width]."""

    def ram(self) -> NDArray[np.uint8]:
        """A copy of the 2,048 bytes of RAM."""

    def read(self, address: int) -> int:
        """What the CPU would read, without consequences; registers read as 0."""

    def poke(self, address: int, value: int) -> None:
        """Change a byte of RAM."""

    def registers(self) -> Registers:
        """The CPU's registers."""

    def set_registers(
        self, *, a: int = ..., x: int = ..., y: int = ..., s: int = ..., p: int = ..., pc: int = ...
    ) -> None:
        """Change some registers."""

    def save(self) -> bytes:
        """Everything the console remembers."""

    def load(self, state: bytes) -> None:
        """Go back to what save() answered; raises ValueError for anything else."""

    def fields(self) -> dict[str, int | bytes]:
        """Every field of the state by name: numbers, and bytes for arrays."""

    def coverage(self, buttons: bytes) -> bytes:
        """Interpret a frame for each byte of buttons.

        Answers a byte for each address from $8000 on: 1 if an instruction began there.
        """

class FlatCpu:
    """A 6502 alone on 64 KiB of RAM, which a locked-up instruction does not stop."""

    def __init__(self) -> None:
        """All memory and registers are 0."""

    @property
    def memory(self) -> NDArray[np.uint8]:
        """All of its memory, to read and write."""

    def step(self) -> int:
        """Run one instruction; answers its cycles."""

    def registers(self) -> Registers:
        """The registers."""

    def set_registers(
        self, *, a: int = ..., x: int = ..., y: int = ..., s: int = ..., p: int = ..., pc: int = ..., cycle: int = ...
    ) -> None:
        """Change some registers."""

class Pool:
    """Many consoles of one game, stepped in one call; each was just switched on."""

    def __init__(
        self,
        cartridge: Cartridge,
        lanes: int,
        threads: int = 1,
        skip: int = 4,
        kind: Kind = "none",
        height: int = 84,
        width: int = 84,
        stack: int = 4,
        max_of_two: bool = False,
        watch: NDArray[np.uint16] | None = None,
        interpret: bool = False,
    ) -> None:
        """Make the consoles and the threads; raises ValueError for what makes no pool."""

    @property
    def lanes(self) -> int:
        """How many consoles there are."""

    @property
    def threads(self) -> int:
        """How many threads step them, the caller's included."""

    @property
    def starts(self) -> int:
        """How many entries the table of starts has."""

    @property
    def recompiled(self) -> bool:
        """Whether the consoles run recompiled code."""

    @property
    def state_bytes(self) -> int:
        """The size of one console's state."""

    @property
    def frame_shape(self) -> tuple[int, ...] | None:
        """Of one lane's pictures; None for kind 'none'."""

    def step(
        self,
        buttons: NDArray[np.uint8],
        frames: NDArray[np.uint8] | None = None,
        ram: NDArray[np.uint8] | None = None,
        restart: NDArray[np.int32] | None = None,
    ) -> None:
        """Restart the lanes that ask for it, run every lane for `skip` frames, write pictures and watched RAM."""

    def observe(self, frames: NDArray[np.uint8] | None = None, ram: NDArray[np.uint8] | None = None) -> None:
        """Write pictures and watched RAM as they stand."""

    def set_starts(self, states: NDArray[np.uint8], frames: NDArray[np.uint8] | None = None) -> None:
        """Copy the table that lanes restart from."""

    def load(self, lanes: NDArray[np.int32], starts: NDArray[np.int32]) -> None:
        """Restart these lanes from these entries of the table."""

    def save_states(self, lanes: NDArray[np.int32], out: NDArray[np.uint8]) -> None:
        """Copy the states of these lanes."""

    def load_states(self, lanes: NDArray[np.int32], states: NDArray[np.uint8]) -> None:
        """Set the states of these lanes; their pictures become black."""

    def save_frames(self, lanes: NDArray[np.int32], out: NDArray[np.uint8]) -> None:
        """Copy the pictures of these lanes, oldest first."""

    def load_frames(self, lanes: NDArray[np.int32], frames: NDArray[np.uint8] | None) -> None:
        """Set the pictures of these lanes; None: black."""

def simd_path() -> str:
    """The path that pictures take."""

def simd_paths() -> list[str]:
    """The paths this machine can use, fastest first."""

def set_simd_path(name: str) -> None:
    """Take this path from now on; all give the same bytes."""

def engine_version() -> str:
    """Changes whenever a console's behaviour or its state does."""

def code_contract_version() -> int:
    """Which contract recompiled code must follow."""

def console_bytes() -> int:
    """The size of a console that recompiled code works on."""

def opcode_table() -> list[tuple[int, str, str, int, int, bool]]:
    """The 256 opcodes as (code, name, mode, bytes, cycles, page_penalty); cycles without penalties."""
