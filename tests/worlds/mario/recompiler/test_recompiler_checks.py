"""No way through a program without a check, and no check that promises too little."""

import random

import pytest
from cycles import BASE, BRANCHES, PAGE_PENALTY
from random_programs import RandomProgram

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.checks import LONGEST_WAY, Checks, is_left, may_leave, writes_io
from respawn.worlds.mario.recompiler.program import Instruction, Program
from respawn.worlds.mario.recompiler.walk import Walk


def random_walk(seed: int) -> Walk:
    """Of random pieces, or of random bytes with many ways in."""
    table = _engine.opcode_table()
    if seed % 2:
        data = _engine.Cartridge(RandomProgram(seed, table, pieces=60).ines).program
        return Walk(Program(data, table))
    chance = random.Random(seed)
    codes = [row[0] for row in table if row[2] == "relative"] * 4 + [0x4C, 0xEA, 0x8D, 0x91] * 4 + list(range(256))
    small = bytes(chance.choice(codes) for _ in range(300))
    # Jumps stay within the piece: its high bytes are all the same.
    body = bytearray(small + bytes(0x8000 - len(small)))
    for at, code in enumerate(small):
        if code in (0x4C, 0x20):
            body[at + 1 : at + 3] = bytes((chance.randrange(256), 0x80 + chance.randrange(2)))
    body[-6:] = b"\x00\x80\x20\x80\x40\x80"
    return Walk(Program(bytes(body), table), [0x8000 + chance.randrange(300) for _ in range(20)])


def documented_most_cycles(program: Program, instruction: Instruction) -> int:
    code = program.byte(instruction.address)
    return BASE[code] + (2 if code in BRANCHES else int(code in PAGE_PENALTY))


class LongestWay:
    """By trying every way; a way that comes back to itself without a check is an error."""

    def __init__(self, walk: Walk, checks: Checks) -> None:
        self.walk = walk
        self.checks = checks
        self.known: dict[int, int] = {}
        self.path: set[int] = set()

    def behind(self, address: int) -> int:
        instruction = self.walk.instructions.get(address)
        if instruction is None or is_left(instruction):
            return 0
        if address not in self.known:
            assert address not in self.path, f"a loop through {address:04X} has no check"
            self.path.add(address)
            ways = [0 if way in self.checks.reach else self.behind(way) for way in self.ways(instruction)]
            self.path.remove(address)
            self.known[address] = documented_most_cycles(self.walk.program, instruction) + max(ways, default=0)
        return self.known[address]

    @staticmethod
    def ways(instruction: Instruction) -> list[int]:
        if instruction.is_branch:
            return [instruction.next, instruction.branch_target]
        if instruction.name in {"jsr", "rts", "rti"} or instruction.mode == "indirect":
            return []  # through the table of entries, so to a check
        return [instruction.operand if instruction.name == "jmp" else instruction.next]


@pytest.mark.parametrize("seed", range(40))
def test_each_reach_is_the_longest_way_to_the_next_check(seed: int) -> None:
    walk = random_walk(seed)
    checks = Checks(walk)
    longest = LongestWay(walk, checks)
    assert checks.reach
    for address, reach in checks.reach.items():
        assert reach == longest.behind(address), f"{address:04X}"
        assert 0 < reach <= LONGEST_WAY + 8


@pytest.mark.parametrize("seed", range(6))
def test_every_entry_does_at_least_one_instruction(seed: int) -> None:
    walk = random_walk(seed)
    checks = Checks(walk)
    assert checks.entries
    for address in checks.entries:
        assert not is_left(walk.instructions[address])
        assert not may_leave(walk.instructions[address])


@pytest.mark.parametrize("seed", range(6))
def test_a_check_follows_whatever_may_move_an_event(seed: int) -> None:
    walk = random_walk(seed)
    checks = Checks(walk)
    for instruction in walk.instructions.values():
        following = walk.instructions.get(instruction.next)
        if (writes_io(instruction) or is_left(instruction)) and following and not is_left(following):
            assert instruction.next in checks.reach


def decoded(*code: int) -> Instruction:
    found = Program(bytes(code) + bytes(0x8000 - len(code)), _engine.opcode_table()).decode(0x8000)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ((0x8D, 0x14, 0x40), True),  # sta $4014
        ((0x9D, 0x00, 0x40), True),  # sta $4000,x reaches it
        ((0x9D, 0x15, 0x40), False),
        ((0x8D, 0x00, 0x20), False),
        ((0xEE, 0x00, 0x20), True),  # inc $2000
        ((0xEE, 0x00, 0x80), True),  # inc $8000
        ((0xFE, 0x01, 0x1F), True),  # inc $1F01,x may reach $2000
        ((0xFE, 0x00, 0x1F), False),
        ((0x6C, 0x02, 0x20), True),  # jmp ($2002)
        ((0x6C, 0xFF, 0x02), False),
        ((0x58,), True),  # cli
        ((0x40,), False),  # rti
        ((0x02,), True),  # jam
    ],
)
def test_what_is_left_to_the_interpreter(code: tuple[int, ...], left: bool) -> None:
    assert is_left(decoded(*code)) is left


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ((0x8D, 0x00, 0x20), True),
        ((0x9D, 0xFF, 0x1F), True),
        ((0x9D, 0x00, 0x1F), False),
        ((0x8E, 0x17, 0x40), True),
        ((0x8D, 0x00, 0x80), False),
        ((0x9D, 0x00, 0x7F), True),
        ((0xAD, 0x02, 0x20), False),
    ],
)
def test_what_is_known_to_write_to_a_register(code: tuple[int, ...], writes: bool) -> None:
    assert writes_io(decoded(*code)) is writes
