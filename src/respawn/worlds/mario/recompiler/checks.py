"""Where compiled code must look at the clock, and how far it may run from there.

Between two checks no event may come, so a check asks for the longest way to the next one. Every way back to an earlier
address leads to a check; all others go forward, so the longest way is found by going through the program backwards.
"""

from respawn.worlds.mario.recompiler.program import Instruction
from respawn.worlds.mario.recompiler.walk import Walk

LEFT_TO_THE_INTERPRETER = frozenset(
    {"brk", "jam", "cli", "sei", "plp", "sha", "shx", "shy", "tas", "las", "ane", "lxa"}
)
STORES = frozenset({"sta", "stx", "sty", "sax"})
MODIFIES = frozenset({"asl", "lsr", "rol", "ror", "inc", "dec", "slo", "rla", "sre", "rra", "dcp", "isc"})
OAM_DMA = 0x4014
RAM_END = 0x2000
LONGEST_WAY = 400
"""cycles; a longer straight piece gets a check of its own, so that little is left to the interpreter near an event"""


def touches_io(first: int, last: int) -> bool:
    """Whether any address of a range is neither plain memory nor program."""
    return first < 0x8000 and last >= RAM_END


def address_range(instruction: Instruction) -> tuple[int, int] | None:
    """The addresses an absolute operand can mean, or None if they are not known."""
    if instruction.mode == "absolute":
        return instruction.operand, instruction.operand
    if instruction.mode in {"absolute_x", "absolute_y"}:
        return instruction.operand, instruction.operand + 255
    return None


def writes_io(instruction: Instruction) -> bool:
    """Whether it is known to write to a register of another chip."""
    if instruction.name not in STORES:
        return False
    addresses = address_range(instruction)
    return addresses is not None and touches_io(*addresses)


def is_left(instruction: Instruction) -> bool:
    """Whether the interpreter does this one: rare, and hard to get right twice."""
    if instruction.name in LEFT_TO_THE_INTERPRETER:
        return True
    if instruction.mode == "indirect":
        return touches_io(instruction.operand, instruction.operand)
    addresses = address_range(instruction)
    if addresses is None:
        return False
    if instruction.name in MODIFIES:
        return addresses[1] >= RAM_END
    # Copying sprites halts the CPU for so long that an event may come meanwhile.
    return instruction.name in STORES and addresses[0] <= OAM_DMA <= addresses[1]


def may_leave(instruction: Instruction) -> bool:
    """Whether the interpreter does this one if its pointer leads anywhere but to RAM."""
    return instruction.name in STORES | MODIFIES and instruction.mode in {"indirect_x", "indirect_y"}


class Checks:
    """Where the compiled program looks at the clock, each place with its reach in cycles."""

    def __init__(self, walk: Walk) -> None:
        self.instructions = walk.instructions
        self._marked = {address for address in walk.entries if address in walk.instructions}
        for instruction in walk.instructions.values():
            self._mark(instruction)
        for address in sorted(self._marked):
            # It is no entry, so that the one behind it has to be.
            if may_leave(self.instructions[address]):
                self._mark_known(self.instructions[address].next)
        self.reach: dict[int, int] = {}
        self._longest: dict[int, int] = {}
        self._measure()

    @property
    def entries(self) -> dict[int, int]:
        """The checks where the interpreter may hand over: those behind which at least one instruction is done.

        Otherwise the two could hand one instruction to each other for ever.
        """
        return {address: reach for address, reach in self.reach.items() if not may_leave(self.instructions[address])}

    def _mark(self, instruction: Instruction) -> None:
        for target in self.successors(instruction):
            if target <= instruction.address:
                self._mark_known(target)
        if is_left(instruction) or writes_io(instruction):
            self._mark_known(instruction.next)

    def _mark_known(self, address: int) -> None:
        if address in self.instructions:
            self._marked.add(address)

    @staticmethod
    def successors(instruction: Instruction) -> list[int]:
        """Where it goes on without asking the table of entries."""
        if instruction.is_branch:
            return [instruction.next, instruction.branch_target]
        if instruction.name == "jmp":
            return [instruction.operand] if instruction.mode == "absolute" else []
        if instruction.name in {"jsr", "rts", "rti"}:
            return []
        return [instruction.next]

    def _measure(self) -> None:
        for address in sorted(self.instructions, reverse=True):
            instruction = self.instructions[address]
            further = 0
            if not is_left(instruction):
                ways = [self._way_from(target) for target in self.successors(instruction)]
                further = instruction.most_cycles + max(ways, default=0)
            if further > LONGEST_WAY:
                self._marked.add(address)
            self._longest[address] = further
        # A check before an instruction that is left to the interpreter would be of no use.
        self.reach = {address: self._longest[address] for address in self._marked if self._longest[address] > 0}

    def _way_from(self, address: int) -> int:
        if address in self._marked:
            return 0
        return self._longest.get(address, 0)
