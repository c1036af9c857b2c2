"""Runs compiled code and the interpreter side by side from many random states, and says where they first part."""

import random
from pathlib import Path

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.cache import headers_folder
from respawn.worlds.mario.recompiler.compiler import find_compiler
from respawn.worlds.mario.recompiler.generate import generate


def compiled(ines: bytes, folder: Path) -> Path:
    """The program of a cartridge as a library, not yet verified."""
    source, library = folder / "code.cpp", folder / "code.so"
    source.write_text(generate(_engine.Cartridge(ines)))
    find_compiler().compile(source, library, headers_folder())
    return library


def _interrupt_waiting(console: _engine.Console) -> bytes:
    """A console whose sound chip asks for an interrupt, which the CPU has not let in yet."""
    for address, value in enumerate((0x4C, 0x00, 0x00)):  # jmp $0000
        console.poke(address, value)
    console.set_registers(pc=0, p=0x24)
    for _ in range(3):
        console.frame()
    assert console.fields()["apu.frame_irq"]
    return console.save()


class BothWays:
    """Two consoles of one game that must never differ: one interprets, one runs compiled code."""

    def __init__(self, ines: bytes, library: Path) -> None:
        self.interpreting = _engine.Console(_engine.Cartridge(ines))
        with_code = _engine.Cartridge(ines)
        with_code.load_code(str(library))
        self.running = _engine.Console(with_code)
        self.starts = [self.interpreting.save(), _interrupt_waiting(_engine.Console(_engine.Cartridge(ines)))]

    def frames(self, count: int, chance: random.Random) -> str:
        """Runs so many frames with random buttons; answers what differs after one of them, or nothing."""
        for number in range(count):
            buttons = chance.randrange(256)
            self.interpreting.frame(buttons)
            self.running.frame(buttons)
            if self.interpreting.save() != self.running.save():
                expected, found = self.interpreting.fields(), self.running.fields()
                other = [f"{name} {found[name]!r:.40} for {expected[name]!r:.40}" for name in expected]
                other = [text for name, text in zip(expected, other, strict=True) if expected[name] != found[name]]
                return f"after frame {number}: {'; '.join(other)}"
        return ""

    def rounds(self, count: int, pieces: list[int], seed: int, frames: int = 3) -> str:
        """From so many random states, each at the beginning of a piece of the program."""
        for number in range(count):
            chance = random.Random(f"{seed} {number}")
            self._prepare(pieces[number % len(pieces)], chance)
            different = self.frames(frames, chance)
            if different:
                return f"round {number} from {pieces[number % len(pieces)]:#06x} {different}"
        return ""

    def _prepare(self, piece: int, chance: random.Random) -> None:
        start = chance.choice(self.starts)
        registers = {name: chance.randrange(256) for name in "axysp"}
        memory = {chance.randrange(0x800): chance.randrange(256) for _ in range(60)}
        for low in range(chance.randrange(256), chance.randrange(256)):
            memory[low] = chance.choice((0x00, 0x02, 0x07, 0x20, 0x40, 0x1F, 0x80, chance.randrange(256)))
        for console in (self.interpreting, self.running):
            console.load(start)
            console.set_registers(pc=piece, **registers)
            for address, value in memory.items():
                console.poke(address, value)
