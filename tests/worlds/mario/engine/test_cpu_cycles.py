"""How long instructions take: every code, page crossings, branches; against the documented table."""

from types import ModuleType
from typing import Any

import pytest
from cycles import BASE, BRANCHES, JAMS, PAGE_PENALTY

HERE = 0x0480  # no instruction here, and no branch of a few bytes from here, leaves the page
STABLE = [code for code in range(256) if code not in JAMS and code not in BRANCHES]
INDIRECT_Y = {code for code in range(256) if code & 0x1F in (0x11, 0x13)}
BY_Y = {code for code in range(256) if code & 0x1F in (0x19, 0x1B)} | {0xBE, 0xBF, 0x9E, 0x9F}
BY_X = {code for code in range(256) if code & 0x1F in (0x1C, 0x1D, 0x1E, 0x1F)} - {0xBE, 0xBF, 0x9E, 0x9F}
# Branch code -> the flags with which it is taken; its opposite is taken with the others.
TAKEN_WITH = {0x10: 0, 0x30: 0x80, 0x50: 0, 0x70: 0x40, 0x90: 0, 0xB0: 0x01, 0xD0: 0, 0xF0: 0x02}
FLAG = {0x10: 0x80, 0x30: 0x80, 0x50: 0x40, 0x70: 0x40, 0x90: 0x01, 0xB0: 0x01, 0xD0: 0x02, 0xF0: 0x02}


def cpu_at(engine: ModuleType, address: int, *code: int, **registers: int) -> Any:
    cpu = engine.FlatCpu()
    for offset, byte in enumerate(code):
        cpu.memory[address + offset & 0xFFFF] = byte
    cpu.set_registers(**({"a": 0, "x": 0, "y": 0, "s": 0xF0, "p": 0x20, "pc": address} | registers))
    return cpu


@pytest.mark.parametrize("code", STABLE, ids="{:02X}".format)
def test_no_page_is_crossed(engine: ModuleType, code: int) -> None:
    cpu = cpu_at(engine, HERE, code, 0x10, 0x03, x=1, y=1)
    assert cpu.step() == BASE[code]


@pytest.mark.parametrize("code", sorted(INDIRECT_Y | BY_X | BY_Y), ids="{:02X}".format)
def test_indexing_crosses_a_page(engine: ModuleType, code: int) -> None:
    registers = {"x": 0, "y": 0} | ({"x": 0xFF} if code in BY_X else {"y": 0xFF})
    cpu = cpu_at(engine, HERE, code, 0x10, 0x03, **registers)
    cpu.memory[0x10], cpu.memory[0x11] = 0x10, 0x03
    assert cpu.step() == BASE[code] + (code in PAGE_PENALTY)


@pytest.mark.parametrize("code", sorted(PAGE_PENALTY), ids="{:02X}".format)
def test_the_last_byte_of_a_page_is_no_crossing(engine: ModuleType, code: int) -> None:
    registers = {"x": 0, "y": 0} | ({"x": 0xEF} if code in BY_X else {"y": 0xEF})
    cpu = cpu_at(engine, HERE, code, 0x10, 0x03, **registers)
    cpu.memory[0x10], cpu.memory[0x11] = 0x10, 0x03
    assert cpu.step() == BASE[code]


@pytest.mark.parametrize("code", sorted(BRANCHES), ids="{:02X}".format)
def test_branches(engine: ModuleType, code: int) -> None:
    taken = 0x20 | TAKEN_WITH[code]
    cases = (
        # where, by how much, flags, cycles, where to
        (HERE, 0x10, taken ^ FLAG[code], 2, HERE + 2),
        (HERE, 0x10, taken, 3, HERE + 0x12),
        (HERE, 0xFE, taken, 3, HERE),
        (HERE, 0x7F, taken, 4, HERE + 0x81),
        (HERE, 0x80, taken, 3, HERE + 2 - 0x80),
        (0x04FD, 0x00, taken, 3, 0x04FF),
        (0x04FE, 0x00, taken, 3, 0x0500),  # the next instruction is in the new page, and so is the target
        (0x04FE, 0xFF, taken, 4, 0x04FF),  # back into the page the branch itself is in
        (0x04FD, 0x01, taken, 4, 0x0500),
        (0x04FE, 0x00, taken ^ FLAG[code], 2, 0x0500),
    )
    for where, by, flags, cycles, target in cases:
        cpu = cpu_at(engine, where, code, by, p=flags)
        assert (cpu.step(), cpu.registers()["pc"]) == (cycles, target), (hex(where), hex(by), hex(flags))


def test_the_engines_own_table_says_the_same(engine: ModuleType) -> None:
    for code, name, mode, _, cycles, penalty in engine.opcode_table():
        if code in JAMS:
            continue
        assert cycles == BASE[code], (hex(code), name, mode)
        if code not in BRANCHES:
            assert bool(penalty) == (code in PAGE_PENALTY), (hex(code), name, mode)


@pytest.mark.parametrize("code", sorted(JAMS), ids="{:02X}".format)
def test_a_jam_goes_nowhere(engine: ModuleType, code: int) -> None:
    cpu = cpu_at(engine, HERE, code, 0xE8, a=1, x=2, y=3)
    for _ in range(5):
        cpu.step()
    after = cpu.registers()
    assert (after["a"], after["x"], after["y"]) == (1, 2, 3)
