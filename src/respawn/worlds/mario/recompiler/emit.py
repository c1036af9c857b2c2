"""From decoded instructions to C++ that does the same.

The text is made of the engine's own instruction bodies (`nes/instructions.h`), with addresses, cycles and ways known
beforehand. One function holds the whole program, a label where it is needed, so that the registers stay registers.
"""

from collections.abc import Callable, Iterator

from respawn.worlds.mario.recompiler.checks import MODIFIES, RAM_END, STORES, Checks, is_left, writes_io
from respawn.worlds.mario.recompiler.program import PROGRAM_END, PROGRAM_START, Instruction, Program

HEADER = """\
// Made from a cartridge's program: it is that program, so it stays on the machine it was made on.
#include "nes/bus.h"
#include "nes/compiled.h"

using namespace nes;
namespace op = nes::instructions;

#pragma GCC diagnostic ignored "-Wpedantic"
"""

BRANCHES = frozenset({"bpl", "bmi", "bvc", "bvs", "bcc", "bcs", "bne", "beq"})
INDEXED = {"absolute_x": "r.x", "absolute_y": "r.y"}
ZERO_INDEXED = {"zero_x": "r.x", "zero_y": "r.y"}


def cpp_name(name: str) -> str:
    """The engine's name for an operation: C++ keeps `and` for itself."""
    return "and_" if name == "and" else name


class Emitter:
    """Writes the program of one cartridge."""

    def __init__(self, program: Program, checks: Checks, idle_heads: set[int], program_hash: str) -> None:
        self.program = program
        self.checks = checks
        self.idle_heads = idle_heads
        self.program_hash = program_hash
        self.jumped_to: set[int] = set()

    def source(self) -> str:
        """The whole file."""
        blocks = {
            address: self._block(self.checks.instructions[address]) for address in sorted(self.checks.instructions)
        }
        addresses = list(blocks)
        body: list[str] = []
        for position, address in enumerate(addresses):
            body += self._labels(address)
            body += blocks[address]
            following = addresses[position + 1] if position + 1 < len(addresses) else None
            body += self._fall_through(self.checks.instructions[address], following)
        return "\n".join([HEADER, *self._reach_table(), *self._opening(), *body, *self._closing()]) + "\n"

    # -- the frame around the program

    def _reach_table(self) -> Iterator[str]:
        yield "static const std::uint16_t kReach[0x8000] = {"
        entries = self.checks.entries
        yield from self._by_address(lambda address: str(entries.get(address, 0)))
        yield "};"

    @staticmethod
    def _by_address(cell: Callable[[int], str]) -> Iterator[str]:
        for row in range(PROGRAM_START, PROGRAM_END, 16):
            yield "    " + ", ".join(cell(address) for address in range(row, row + 16)) + ","

    def _opening(self) -> Iterator[str]:
        yield "static void run(Console& console, const Machine& machine, const CodeHost& host) {"
        yield "    Compiled c(console, machine, host);"
        yield "    Registers r;"
        yield "    console.cpu.unpack(r);"
        places = sorted(self.checks.reach)
        yield "    static const void* const kPlaces[] = {"
        yield from (f"        &&check_{address:04X}," for address in places)
        yield "        &&leave};"
        # A number and then a place, instead of a place for every address: the library is a third as large.
        numbers = {address: number for number, address in enumerate(places)}
        yield "    static const std::uint16_t kNumber[0x8000] = {"
        yield from self._by_address(lambda address: str(numbers.get(address, len(places))))
        yield "    };"
        yield "dispatch:"
        yield "    if (!(r.pc & 0x8000)) goto leave;"
        yield "    goto* kPlaces[kNumber[r.pc & 0x7FFF]];"

    def _closing(self) -> Iterator[str]:
        yield "leave:"
        yield "    c.leave(r);"
        yield "}"
        yield ""
        yield 'extern "C" [[gnu::visibility("default")]] const CodeExport respawn_code = {'
        yield f'    kCodeVersion, sizeof(Console), "{self.program_hash}", {{run, kReach}}}};'

    # -- one instruction

    def _labels(self, address: int) -> Iterator[str]:
        reach = self.checks.reach.get(address)
        if reach is not None:
            yield f"check_{address:04X}:"
            yield f"    if (c.near_event(r, {reach})) {{ r.pc = {address:#06x}; goto leave; }}"
        if address in self.jumped_to:
            yield f"at_{address:04X}:"

    def _go(self, target: int) -> str:
        """The jump to a known place; where nothing is known, back to the interpreter."""
        if target in self.checks.reach:
            return f"goto check_{target:04X};"
        if target in self.checks.instructions:
            self.jumped_to.add(target)
            return f"goto at_{target:04X};"
        return f"{{ r.pc = {target & 0xFFFF:#06x}; goto leave; }}"

    def _go_back(self, source: Instruction, target: int) -> str:
        """The same, minding loops that only wait."""
        period = self._waiting_period(source, target) if target in self.idle_heads else None
        if period is None:
            return self._go(target)
        return f"{{ c.wait(r, {target:#06x}, {period}); {self._go(target)} }}"

    def _waiting_period(self, source: Instruction, head: int) -> int | None:
        """The cycles of a round from the head to this jump back; None for a jump that only leads to the loop."""
        cycles = 0
        while head < source.address:
            instruction = self.checks.instructions.get(head)
            if instruction is None or instruction.is_branch or instruction.name == "jmp":
                return None
            cycles += instruction.cycles
            head = instruction.next
        if head != source.address:
            return None
        taken = (2 if source.branch_crosses else 1) if source.is_branch else 0
        return cycles + source.cycles + taken

    def _fall_through(self, instruction: Instruction, following: int | None) -> list[str]:
        if is_left(instruction) or instruction.name in {"jmp", "jsr", "rts", "rti"}:
            return []
        if instruction.next == following:
            return []
        return [f"    {self._go(instruction.next)}"]

    def _block(self, instruction: Instruction) -> list[str]:
        head = f"    // {instruction.address:04X} {instruction.name} {instruction.mode} {instruction.operand:X}"
        if is_left(instruction):
            return [head, f"    {{ r.pc = {instruction.address:#06x}; goto leave; }}"]
        if instruction.name in BRANCHES:
            return [head, *self._branch(instruction)]
        if instruction.name in {"jmp", "jsr", "rts", "rti", "pha", "php", "pla"}:
            return [head, *self._control(instruction)]
        if instruction.name in STORES:
            return [head, *self._store(instruction)]
        if instruction.name in MODIFIES:
            return [head, *self._modify(instruction)]
        if instruction.mode == "implied":
            operation = "" if instruction.name == "nop" else f" op::{instruction.name}(r);"
            return [head, f"    r.clock += {instruction.cycles};{operation}"]
        return [head, *self._read(instruction)]

    def _branch(self, instruction: Instruction) -> list[str]:
        penalty = 2 if instruction.branch_crosses else 1
        go = self._go_back(instruction, instruction.branch_target)
        return [
            f"    r.clock += {instruction.cycles};",
            f"    if (op::{instruction.name}(r)) {{ r.clock += {penalty}; {go} }}",
        ]

    def _control(self, instruction: Instruction) -> list[str]:
        clock = f"    r.clock += {instruction.cycles};"
        if instruction.name == "jmp" and instruction.mode == "absolute":
            return [clock, f"    {self._go_back(instruction, instruction.operand)}"]
        if instruction.name == "jmp":
            pointer = instruction.operand
            high = (pointer & 0xFF00) | ((pointer + 1) & 0xFF)
            return [clock, f"    r.pc = c.pointer({pointer:#06x}, {high:#06x}); goto dispatch;"]
        if instruction.name == "jsr":
            back = instruction.address + 2
            return [clock, f"    c.push_word(r, {back:#06x}); {self._go(instruction.operand)}"]
        if instruction.name == "rts":
            return [clock, "    r.pc = static_cast<std::uint16_t>(c.pull_word(r) + 1); goto dispatch;"]
        if instruction.name == "rti":
            return [clock, "    if (c.return_from_interrupt(r)) goto leave;", "    goto dispatch;"]
        return [clock, f"    c.{instruction.name}(r);"]

    def _address(self, instruction: Instruction) -> str:
        """An expression for an address that is known to be in zero page, RAM or the program."""
        operand = instruction.operand
        if instruction.mode in {"zero", "absolute"}:
            return f"{operand:#06x}"
        if instruction.mode in ZERO_INDEXED:
            return f"static_cast<std::uint8_t>({operand:#04x} + {ZERO_INDEXED[instruction.mode]})"
        return f"{operand:#06x} + {INDEXED[instruction.mode]}"

    def _crossing(self, instruction: Instruction) -> str:
        """The cycle a read pays when its index leads to another page."""
        if instruction.mode in INDEXED and instruction.operand & 0xFF:
            return f" r.clock += ({instruction.operand & 0xFF:#04x} + {INDEXED[instruction.mode]}) >> 8;"
        return ""

    def _read(self, instruction: Instruction) -> list[str]:
        operation = f"op::{cpp_name(instruction.name)}"
        clock = f"    r.clock += {instruction.cycles};"
        operand = instruction.operand
        if instruction.mode == "immediate":
            return [clock, f"    {operation}(r, {operand:#04x});"]
        if instruction.mode in {"zero", *ZERO_INDEXED}:
            return [clock, f"    {operation}(r, c.ram[{self._address(instruction)}]);"]
        if instruction.mode == "indirect_x":
            return [clock, f"    {operation}(r, c.read(c.pointer_x(r, {operand:#04x}), r.clock - 1));"]
        if instruction.mode == "indirect_y":
            return [clock, f"    {operation}(r, c.read_y(r, {operand:#04x}));"]
        last = operand + (255 if instruction.mode in INDEXED else 0)
        if last < RAM_END:
            mask = "" if last < 0x800 else " & 0x7FF"
            value = f"c.ram[({self._address(instruction)}){mask}]"
        elif operand >= 0x8000 and last <= 0xFFFF:
            value = f"c.program[{operand & 0x7FFF:#06x}"
            value += f" + {INDEXED[instruction.mode]}]" if instruction.mode in INDEXED else "]"
            if instruction.mode == "absolute":
                value = f"{self.program.byte(operand):#04x}"
        elif instruction.mode == "absolute":
            value = f"c.read_io(r, {operand:#06x})"
        else:
            return [clock, f"    {operation}(r, c.read_indexed(r, {operand:#06x}, {INDEXED[instruction.mode]}));"]
        return [clock, f"   {self._crossing(instruction)} {operation}(r, {value});"]

    def _store(self, instruction: Instruction) -> list[str]:
        value = f"op::{instruction.name}(r)"
        clock = f"    r.clock += {instruction.cycles};"
        operand = instruction.operand
        if instruction.mode in {"zero", *ZERO_INDEXED}:
            return [clock, f"    c.ram[{self._address(instruction)}] = {value};"]
        if instruction.mode in {"indirect_x", "indirect_y"}:
            return [*self._locate(instruction), clock, f"    c.ram[place & 0x7FF] = {value}; }}"]
        last = operand + (255 if instruction.mode in INDEXED else 0)
        if writes_io(instruction):
            if instruction.mode == "absolute":
                return [clock, f"    c.write_io(r, {operand:#06x}, {value});"]
            return [clock, f"    c.write_indexed(r, {operand:#06x}, {INDEXED[instruction.mode]}, {value});"]
        if operand >= 0x8000 and last <= 0xFFFF:
            return [clock]  # nothing listens there
        if last > 0xFFFF:
            return [clock, f"    c.write_wrapped({self._address(instruction)}, {value});"]
        mask = "" if last < 0x800 else " & 0x7FF"
        return [clock, f"    c.ram[({self._address(instruction)}){mask}] = {value};"]

    def _modify(self, instruction: Instruction) -> list[str]:
        operation = f"op::{instruction.name}"
        clock = f"    r.clock += {instruction.cycles};"
        if instruction.mode == "accumulator":
            return [clock, f"    r.a = {operation}(r, r.a);"]
        if instruction.mode in {"indirect_x", "indirect_y"}:
            change = f"    std::uint8_t& cell = c.ram[place & 0x7FF]; cell = {operation}(r, cell); }}"
            return [*self._locate(instruction), clock, change]
        last = instruction.operand + (255 if instruction.mode in INDEXED else 0)
        mask = "" if last < 0x800 else " & 0x7FF"
        cell = f"c.ram[({self._address(instruction)}){mask}]"
        return [clock, f"    {{ std::uint8_t& cell = {cell}; cell = {operation}(r, cell); }}"]

    def _locate(self, instruction: Instruction) -> list[str]:
        """Opens a block with the place a pointer leads to, if that is RAM; everything else is the interpreter's."""
        locate = "pointer_x" if instruction.mode == "indirect_x" else "pointer_y"
        return [
            f"    {{ const std::uint32_t place = c.{locate}(r, {instruction.operand:#04x});",
            f"    if (place >= {RAM_END:#06x}) {{ r.pc = {instruction.address:#06x}; goto leave; }}",
        ]
