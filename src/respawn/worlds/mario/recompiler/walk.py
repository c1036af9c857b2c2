"""Finding a program's instructions: from where it is entered, along every way it can go.

What is not found is not wrong, only slower: the interpreter runs it.
"""

from collections.abc import Iterable

from respawn.worlds.mario.recompiler.program import (
    IRQ_VECTOR,
    NMI_VECTOR,
    PROGRAM_START,
    RESET_VECTOR,
    Instruction,
    Program,
)

ENDS_A_PATH = frozenset({"rts", "rti", "brk", "jam", "jmp"})
LONGEST_TABLE = 128
LONGEST_DISPATCHER = 24


class Walk:
    """The instructions of a program that are known, and those that are entered from afar."""

    def __init__(self, program: Program, seeds: Iterable[int] = ()) -> None:
        self.program = program
        self.instructions: dict[int, Instruction] = {}
        self.entries: set[int] = set()
        self._todo: list[int] = []
        self._tables: list[int] = []
        vectors = [program.word(vector) for vector in (NMI_VECTOR, RESET_VECTOR, IRQ_VECTOR)]
        for address in vectors:
            self._enter(address)
        self._follow()
        for address in sorted(seeds):
            if address not in self.instructions:
                self._enter(address)
                self._follow()
        while self._tables:
            self._read_table(self._tables.pop())
            self._follow()

    def _enter(self, address: int) -> None:
        self.entries.add(address)
        self._todo.append(address)

    def _follow(self) -> None:
        while self._todo:
            address = self._todo.pop()
            if address in self.instructions:
                continue
            instruction = self.program.decode(address)
            if instruction is None:
                continue
            self.instructions[address] = instruction
            self._go_on(instruction)

    def _go_on(self, instruction: Instruction) -> None:
        if instruction.is_branch:
            self._todo += [instruction.next, instruction.branch_target]
        elif instruction.name == "jsr":
            self._enter(instruction.operand)
            if self._takes_its_return_address(instruction.operand):
                self._tables.append(instruction.next)
            else:
                self._enter(instruction.next)
        elif instruction.name == "jmp" and instruction.mode == "absolute":
            self._todo.append(instruction.operand)
        elif instruction.name not in ENDS_A_PATH:
            self._todo.append(instruction.next)

    def _takes_its_return_address(self, address: int) -> bool:
        """Whether a subroutine pulls the address it was called from and jumps through a pointer.

        Such a call is followed not by program but by a table of the places it may jump to.
        """
        pulls = 0
        for _ in range(LONGEST_DISPATCHER):
            instruction = self.program.decode(address)
            if instruction is None or instruction.is_branch or instruction.name in {"jsr", "rts", "rti", "pha", "php"}:
                return False
            if instruction.name == "jmp":
                return instruction.mode == "indirect" and pulls >= 2
            pulls += instruction.name == "pla"
            address = instruction.next
        return False

    def _read_table(self, start: int) -> None:
        """Takes the words after such a call as addresses, up to where known program begins."""
        nearest = 0x10000
        for place in range(start, start + 2 * LONGEST_TABLE, 2):
            if place in self.instructions or place + 1 in self.instructions or place >= nearest or place + 1 > 0xFFFF:
                return
            target = self.program.word(place)
            if target < PROGRAM_START:
                return
            if target > start:
                nearest = min(nearest, target)
            self._enter(target)
