"""Little programs pin the console down: what they saw is what is documented, and the same as on cynes, frame by frame."""

from collections import Counter
from types import ModuleType

import pytest
from lockstep import broken_facts, cynes_frames, engine_runs, first_difference
from programs import Program, interrupts, pads, pictures, processor, sound, sprites, timing, video

PROGRAMS = [
    program
    for room in (interrupts, timing, sprites, video, pictures, pads, sound, processor)
    for program in room.PROGRAMS
]
WITH_FACTS = [program for program in PROGRAMS if program.facts]
ON_CYNES = [program for program in PROGRAMS if not program.not_on_cynes]


def name(program: Program) -> str:
    return program.name


def test_each_program_has_its_own_name_and_says_what_it_shows() -> None:
    assert max(Counter(map(name, PROGRAMS)).values()) == 1
    assert all(program.says.endswith(".") for program in PROGRAMS)


@pytest.mark.parametrize("program", [p for p in WITH_FACTS if not p.not_on_cynes], ids=name)
def test_cynes_confirms_the_facts(program: Program) -> None:
    pytest.importorskip("cynes")
    assert broken_facts(program, cynes_frames(program)[-1].ram) == ""


@pytest.mark.parametrize("program", WITH_FACTS, ids=name)
def test_the_facts_hold(engine: ModuleType, program: Program) -> None:
    *_, (_, console) = engine_runs(engine, program)
    assert broken_facts(program, console.ram()) == ""


@pytest.mark.parametrize("program", ON_CYNES, ids=name)
def test_same_as_cynes(engine: ModuleType, program: Program) -> None:
    pytest.importorskip("cynes")
    assert first_difference(engine, program) is None
