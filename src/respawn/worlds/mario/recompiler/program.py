"""A cartridge's program, decoded an instruction at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

PROGRAM_START = 0x8000
PROGRAM_END = 0x10000
NMI_VECTOR, RESET_VECTOR, IRQ_VECTOR = 0xFFFA, 0xFFFC, 0xFFFE

OpcodeRow = tuple[int, str, str, int, int, bool]
"""code, name, addressing mode, bytes, cycles, whether a page crossing costs a cycle: as the engine's table has it"""


@dataclass(frozen=True)
class Instruction:
    """One instruction where it lies."""

    address: int
    name: str
    mode: str
    length: int
    cycles: int
    page_penalty: bool
    operand: int

    @property
    def next(self) -> int:
        """The address behind it."""
        return self.address + self.length

    @property
    def is_branch(self) -> bool:
        """Whether it goes on in one of two places."""
        return self.mode == "relative"

    @property
    def branch_target(self) -> int:
        """Where a branch goes if it is taken."""
        offset = self.operand - 256 if self.operand >= 128 else self.operand
        return (self.next + offset) & 0xFFFF

    @property
    def branch_crosses(self) -> bool:
        """Whether a taken branch leaves its page."""
        return bool((self.next ^ self.branch_target) & 0xFF00)

    @property
    def most_cycles(self) -> int:
        """The cycles it takes at worst."""
        return self.cycles + (2 if self.is_branch else int(self.page_penalty))


class Program:
    """The 32 KiB at $8000-$FFFF."""

    def __init__(self, data: bytes, table: Sequence[OpcodeRow]) -> None:
        if len(data) != PROGRAM_END - PROGRAM_START:
            raise ValueError(f"a program has {PROGRAM_END - PROGRAM_START} bytes, this one has {len(data)}")
        self.data = data
        self._table = {row[0]: row for row in table}

    def byte(self, address: int) -> int:
        """The byte at an address of the program."""
        return self.data[address & 0x7FFF]

    def word(self, address: int) -> int:
        """The 16-bit number at an address of the program."""
        return self.byte(address) | self.byte(address + 1) << 8

    def decode(self, address: int) -> Instruction | None:
        """The instruction at an address, or None where it would not lie wholly within the program."""
        if not PROGRAM_START <= address < PROGRAM_END:
            return None
        _, name, mode, length, cycles, penalty = self._table[self.byte(address)]
        if address + length > PROGRAM_END:
            return None
        operand = 0
        if length == 2:
            operand = self.byte(address + 1)
        elif length == 3:
            operand = self.word(address + 1)
        return Instruction(address, name, mode, length, cycles, penalty, operand)
