"""Runs a program on the engine and on cynes, frame by frame, and says where they first part."""

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from ines import cartridge
from numpy.typing import NDArray
from oracles import CynesConsole
from programs import Program


@dataclass(frozen=True)
class Frame:
    """What cynes held at the end of a frame."""

    ram: NDArray[np.uint8]
    rgb: NDArray[np.uint8] | None


@cache
def cynes_frames(program: Program) -> list[Frame]:
    """The program's whole run on cynes."""
    console = CynesConsole(program.ines())
    frames = []
    for number in range(1, program.frames + 1):
        if number in program.resets:
            console.reset()
        console.frame(*program.pads(number - 1))
        drawn = program.drawn_from and number >= program.drawn_from
        frames.append(Frame(console.ram(), console.rgb() if drawn else None))
    return frames


@cache
def cynes_palette() -> NDArray[np.uint8]:
    """The sixty-four colours as cynes shows them, each asked for as the backdrop."""
    colours = []
    for number in range(64):
        console = CynesConsole(
            cartridge(f"""
reset:
    lda $2002
    lda #$3F
    sta $2006
    lda #0
    sta $2006
    lda #{number}
    sta $2007
    lda #0
    sta $2006
    sta $2006
end:
    jmp end
""")
        )
        console.frame()
        console.frame()
        colours.append(console.rgb()[120, 128])
    return np.array(colours, np.uint8)


def engine_runs(engine: ModuleType, program: Program) -> Any:
    """The engine's console before each comparison: yields (frame number, console)."""
    console = engine.Console(engine.Cartridge(program.ines()))
    for number in range(1, program.frames + 1):
        if number in program.resets:
            console.reset()
        first, second = program.pads(number - 1)
        console.frame(first, second, bool(program.drawn_from))
        yield number, console


def ram_after_interrupt(console: Any) -> NDArray[np.uint8]:
    """RAM as it would be with the waiting interrupt taken: cynes may end a frame after its pushes, we never do.

    An interrupt that came while sprites were copied waits for one instruction more.
    """
    saved = console.save()
    before = console.registers()["s"]
    for _ in range(2):
        console.step()
        if console.registers()["s"] != before:
            break
    ram: NDArray[np.uint8] = console.ram()
    console.load(saved)
    return ram


def first_difference(engine: ModuleType, program: Program) -> str | None:
    """A sentence about the first frame that differs from cynes, or None."""
    expected = cynes_frames(program)
    for number, console in engine_runs(engine, program):
        frame = expected[number - 1]
        if number >= program.compared_from:
            difference = _ram_difference(frame.ram, console)
            if difference:
                return f"{program.name}: RAM differs after frame {number}: {difference}"
        if frame.rgb is not None:
            shown = cynes_palette()[console.indices()]
            wrong = np.argwhere((shown != frame.rgb).any(axis=2))
            if len(wrong):
                line, x = wrong[0]
                return f"{program.name}: {len(wrong)} pixels of frame {number} differ, first at line {line}, x {x}"
    return None


def _ram_difference(expected: NDArray[np.uint8], console: Any) -> str:
    ram = console.ram()
    wrong = np.flatnonzero(ram != expected)
    if not len(wrong) or np.array_equal(ram_after_interrupt(console), expected):
        return ""
    return ", ".join(f"${at:03X} is {ram[at]:02X}, cynes {expected[at]:02X}" for at in wrong[:8])


def broken_facts(program: Program, ram: NDArray[np.uint8]) -> str:
    """The facts that do not hold, in words; empty if all do."""
    broken = [
        f"${address:03X}: {bytes(ram[address : address + len(known)]).hex(' ')} instead of {known.hex(' ')}"
        for address, known in program.facts.items()
        if bytes(ram[address : address + len(known)]) != known
    ]
    return "; ".join(broken)
