"""Decoding instructions where they lie."""

import pytest
from assembler import assemble
from cycles import BASE, PAGE_PENALTY

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.program import Program


def program(source: str, origin: int = 0x8000) -> Program:
    code = assemble(source, origin).code
    lead = bytes(origin - 0x8000)
    return Program(lead + code + bytes(0x8000 - len(lead) - len(code)), _engine.opcode_table())


def test_an_instruction_knows_its_operand_and_its_neighbour() -> None:
    decoded = program("lda $1234,x").decode(0x8000)
    assert decoded is not None
    assert (decoded.name, decoded.mode, decoded.operand) == ("lda", "absolute_x", 0x1234)
    assert (decoded.next, decoded.cycles, decoded.most_cycles) == (0x8003, 4, 5)


@pytest.mark.parametrize(
    ("origin", "target", "crosses"), [(0x8000, 0x8010, False), (0x80F8, 0x8108, True), (0x8100, 0x80F0, True)]
)
def test_a_branch_knows_both_its_ways(origin: int, target: int, crosses: bool) -> None:
    decoded = program(f"bne {target}", origin).decode(origin)
    assert decoded is not None
    assert decoded.is_branch
    assert decoded.branch_target == target
    assert decoded.branch_crosses is crosses
    assert decoded.most_cycles == 4


def test_every_code_costs_what_is_documented() -> None:
    found = Program(bytes(0x8000), _engine.opcode_table())
    for code in range(256):
        found.data = bytes([code]) + bytes(0x7FFF)
        decoded = found.decode(0x8000)
        assert decoded is not None
        assert decoded.cycles == BASE[code], f"{code:02X}"
        if not decoded.is_branch:
            assert decoded.most_cycles == BASE[code] + (code in PAGE_PENALTY), f"{code:02X}"


def test_no_instruction_lies_outside_or_hangs_over_the_end() -> None:
    found = Program(bytes(0x7FFF) + b"\xad", _engine.opcode_table())
    assert found.decode(0xFFFF) is None  # the operand would lie behind the end
    assert found.decode(0x7FFF) is None
    assert found.decode(0x10000) is None
    assert found.decode(0xFFFE) is not None


def test_a_program_of_another_size_is_none() -> None:
    with pytest.raises(ValueError, match="32768 bytes, this one has 16384"):
        Program(bytes(0x4000), _engine.opcode_table())
