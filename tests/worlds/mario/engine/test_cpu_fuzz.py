"""A fast part of benchmarks/engine_fuzz.py: every instruction in random cases, against py65 and the model beside it."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("py65")

from engine_fuzz import CASES_PER_BATCH, CODES, LEFT_OUT, first_difference


def test_every_code_is_met() -> None:
    assert len(CODES) + len(LEFT_OUT) == 256
    assert len(CODES) <= CASES_PER_BATCH


@pytest.mark.parametrize("part", range(4))
def test_random_cases_agree(engine: ModuleType, part: int) -> None:
    difference = first_difference(engine.FlatCpu(), 2024, range(part * 5, part * 5 + 5))
    assert difference is None, str(difference)


class Spoiled:
    """A processor with one thing wrong."""

    def __init__(self, cpu: Any, spoil: Callable[["Spoiled"], None]) -> None:
        self.cpu = cpu
        self.memory = cpu.memory
        self.spoil = spoil
        self.extra = 0

    def set_registers(self, **values: int) -> None:
        self.cpu.set_registers(**values)

    def registers(self) -> dict[str, int]:
        return dict(self.cpu.registers())

    def step(self) -> int:
        code = int(self.memory[self.cpu.registers()["pc"]])
        cycles = int(self.cpu.step())
        if code == 0xB3:  # LAX (zero page), Y
            self.spoil(self)
        return cycles + self.extra


def wrong_register(cpu: Spoiled) -> None:
    cpu.set_registers(x=cpu.registers()["x"] ^ 1)


def wrong_flag(cpu: Spoiled) -> None:
    cpu.set_registers(p=cpu.registers()["p"] ^ 0x40)


def wrong_memory(cpu: Spoiled) -> None:
    cpu.memory[0x1234] = int(cpu.memory[0x1234]) + 1 & 0xFF


def wrong_time(cpu: Spoiled) -> None:
    cpu.extra = 1


@pytest.mark.parametrize("spoil", [wrong_register, wrong_flag, wrong_memory, wrong_time])
def test_a_wrong_processor_is_found_out(engine: ModuleType, spoil: Callable[[Spoiled], None]) -> None:
    difference = first_difference(Spoiled(engine.FlatCpu(), spoil), 2024, range(1))
    assert difference is not None
    assert "--seed 2024 --batch 0" in str(difference)
