"""Little programs pin the console down: what they saw is what is documented, and what cynes sees, frame by frame."""

from collections import Counter
from types import ModuleType

import pytest
from lockstep import broken_facts, cynes_frames, engine_runs, first_difference
from open_differences import OPEN, OPEN_FACTS
from programs import (
    Program,
    interrupts,
    pads,
    pictures,
    processor,
    sound,
    sprites,
    stray,
    timing,
    unofficial,
    video,
    while_drawing,
)

PROGRAMS = [
    program
    for room in (interrupts, timing, sprites, video, while_drawing, pictures, pads, sound, processor, stray, unofficial)
    for program in room.PROGRAMS
]


def cases(programs: list[Program], excused: dict[str, str]) -> list[object]:
    """One case a program. Strict: who mends an excused one must strike it from the list."""
    return [
        pytest.param(
            program,
            id=program.name,
            marks=[pytest.mark.xfail(strict=True, reason=excused[program.name])] if program.name in excused else [],
        )
        for program in programs
    ]


def test_each_program_has_its_own_name_and_says_what_it_shows() -> None:
    names = Counter(program.name for program in PROGRAMS)
    assert max(names.values()) == 1
    assert all(program.says.endswith(".") for program in PROGRAMS)
    assert set(OPEN) | set(OPEN_FACTS) <= set(names)


@pytest.mark.parametrize("program", cases([p for p in PROGRAMS if p.facts], OPEN_FACTS))
def test_the_facts_hold(engine: ModuleType, program: Program) -> None:
    *_, (_, console) = engine_runs(engine, program)
    assert broken_facts(program, console.ram()) == ""


@pytest.mark.parametrize("program", cases([p for p in PROGRAMS if not p.not_on_cynes], OPEN))
def test_same_as_cynes(engine: ModuleType, program: Program) -> None:
    pytest.importorskip("cynes")
    assert first_difference(engine, program) is None
    assert broken_facts(program, cynes_frames(program)[-1].ram) == ""
