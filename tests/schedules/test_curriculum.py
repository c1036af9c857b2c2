from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.contracts.schedule import OffersStarts
from respawn.errors import ConfigError
from respawn.schedules.boost import AdaptiveBoostConfig, BoostConfig, PenaltyCap, StageFloor
from respawn.schedules.curriculum import Curriculum
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.gate_config import Criterion, GateConfig
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.phases import PenaltyLock, Phase
from respawn.testing.suites.schedule import check_schedule

QUALITY = Criterion("evaluation/quality", at_least=0.9)
GATE = GateConfig((1, 2, 3), required_successes=1, freeze_updates=0, success=(QUALITY,), failure=())
PHASES = (
    Phase(3, size=1, penalty=0.1, boost=0.5),
    Phase(3, size=2, penalty=0.2, boost=0.6),
    Phase(4, size=3, penalty=0.4, boost=0.7),
)
HARD_STARTS = HardStartsConfig((HardStartStage(2, "v34-ne", "ne"), HardStartStage(4, "v32-stage1", share=0.5)))
WHOLE = CurriculumConfig(
    phases=PHASES,
    boost=BoostConfig(
        speed=0.0,
        floor=0.0,
        caps=(PenaltyCap(0.4, 0.65),),
        adaptive=AdaptiveBoostConfig(
            metric="episode/luck", window=1, min_update=0, low_speed=0.3, stage_floors=(StageFloor(1, 0.4),)
        ),
    ),
    gate=GATE,
    hard_starts=HARD_STARTS,
)
KNOBS = [
    KnobSpec("school_size", 1, 1, 3),
    KnobSpec("density_penalty", 0, 0, 1),
    KnobSpec("escape_boost", 0, 0, 1),
    KnobSpec("hard_start_share", 0, 0, 1),
]


def built(config=WHOLE, planned=10):
    return Curriculum(config, planned_updates=planned, num_schools=2)


def updated(update, **metrics):
    return UpdateReport(update, update, update, update, {f"episode/{name}": value for name, value in metrics.items()})


def evaluated(update, quality):
    return EvaluationReport(update, update, {"evaluation/quality": quality})


def decided(curriculum, updates):
    return curriculum.decide(Clock(updates=updates))


def test_it_owns_only_what_something_is_said_about():
    assert built().owns == {knob.name for knob in KNOBS}
    assert built(CurriculumConfig(phases=(Phase(10, size=4),))).owns == {"school_size"}
    assert built(CurriculumConfig(phases=(Phase(10, penalty=0.0),), penalty_knob="thorns")).owns == {"thorns"}
    assert built(CurriculumConfig(phases=(Phase(10),), boost=BoostConfig())).owns == {"escape_boost"}
    assert built(CurriculumConfig(hard_starts=HARD_STARTS)).owns == {"hard_start_share"}
    assert not CurriculumConfig().says_anything and not CurriculumConfig(phases=(Phase(3),)).says_anything
    assert WHOLE.says_anything


def test_phases_decide_for_the_update_about_to_be_made():
    curriculum = built(replace(WHOLE, gate=None, hard_starts=None))
    values = [decided(curriculum, updates) for updates in range(12)]
    assert [value["school_size"] for value in values] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3]
    assert [value["density_penalty"] for value in values] == [0.1] * 3 + [0.2] * 3 + [0.4] * 6
    assert [value["escape_boost"] for value in values] == [0.5] * 3 + [0.6] * 3 + [0.65] * 6


def test_the_gate_holds_the_penalty_back_and_with_it_the_cap_on_the_boost():
    curriculum = built()
    assert decided(curriculum, 8)["density_penalty"] == 0.1
    assert decided(curriculum, 8)["escape_boost"] == 0.7  # the cap is for penalties from 0.4
    curriculum.observe(evaluated(3, 0.95))
    assert decided(curriculum, 8)["density_penalty"] == 0.2
    curriculum.observe(evaluated(4, 0.5))
    curriculum.observe(evaluated(5, 0.9))
    assert decided(curriculum, 8)["density_penalty"] == 0.4
    assert decided(curriculum, 8)["escape_boost"] == 0.65
    assert decided(curriculum, 4)["density_penalty"] == 0.2  # the phase itself comes later


def test_the_gates_stage_is_a_floor_for_the_adaptive_boost():
    curriculum = built()
    curriculum.observe(updated(1, luck=0.0))
    assert decided(curriculum, 1)["escape_boost"] == 0.3
    assert decided(curriculum, 3)["escape_boost"] == 0.6  # the next phase begins with its own
    curriculum.observe(evaluated(1, 0.95))
    curriculum.observe(updated(2, luck=0.0))
    assert decided(curriculum, 2)["escape_boost"] == 0.4


def test_the_gate_goes_by_the_kind_of_hard_starts_that_are_dealt():
    success = (QUALITY, replace(QUALITY, at_least=0.5, kind="ne"))
    curriculum = built(replace(WHOLE, gate=replace(GATE, success=success)))
    rulings = curriculum.observe(evaluated(1, 0.6))
    assert (rulings[0].facts["event"], rulings[0].facts["tail_stage_type"]) == ("advance", "ne")
    rulings = curriculum.observe(evaluated(2, 0.6))
    assert (rulings[0].facts["event"], rulings[0].facts["tail_stage_type"]) == ("noop", "main")


def test_hard_starts_are_offered_and_their_share_decided():
    curriculum = built()
    assert isinstance(curriculum, OffersStarts)
    assert [(start.number, start.kind) for start in curriculum.starts(Clock())] == [(n, "ne") for n in range(4)]
    assert [decided(curriculum, updates)["hard_start_share"] for updates in (0, 1, 2, 5, 6)] == [1, 1, 0.5, 0.5, 0]
    assert built(CurriculumConfig(phases=(Phase(10, size=1),))).starts(Clock()) == ()


def test_each_update_is_told_as_it_was_made():
    curriculum = built()
    held, dealt = curriculum.observe(updated(1, luck=0.0))
    assert (held.update, held.schedule, dealt.schedule) == (1, "curriculum", "hard_starts")
    assert held.facts == {
        "phase": 1,
        "penalty_phase": 1,
        "size": 1.0,
        "penalty": 0.1,
        "boost": 0.5,
        "boost_base": 0.5,
        "hard_start_share": 1.0,
        "gate_stage": 0,
    }
    for update in range(2, 9):
        held, _ = curriculum.observe(updated(update))
    assert (held.facts["phase"], held.facts["penalty_phase"]) == (3, 1)
    held, dealt = built(CurriculumConfig(hard_starts=HARD_STARTS)).observe(updated(1))
    assert (held.facts["phase"], held.facts["size"], held.facts["hard_start_share"]) == (None, None, 1.0)


def test_it_is_a_schedule():
    reports = [updated(1, luck=0.0), evaluated(1, 0.95), updated(2, luck=20.0), evaluated(2, 0.1)]
    check_schedule(built, KNOBS, reports, num_updates=14)


def test_it_is_a_schedule_in_the_middle_of_a_freeze_and_of_a_stage():
    gate = replace(GATE, freeze_updates=100, required_successes=2, failure=(replace(QUALITY, at_least=0.2),))
    config = replace(WHOLE, gate=gate, hard_starts=replace(HARD_STARTS, unit="episodes"))
    taken = UpdateReport(1, 1, 1, 1, {"world/hard_starts": 1.0, "episode/luck": 3.0})
    reports = [taken, evaluated(1, 0.95), evaluated(2, 0.96), evaluated(5, 0.1)]
    check_schedule(lambda: built(config), KNOBS, reports, num_updates=12)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: built(planned=12), "last 10 updates together, but 12 are planned"),
        (
            lambda: CurriculumConfig(phases=(Phase(1, size=1), Phase(1), Phase(1))),
            "phases 2, 3 of the curriculum have no size, but others do; give it to all phases or to none",
        ),
        (
            lambda: CurriculumConfig(phases=(Phase(1, penalty=1), Phase(1))),
            "phases 2 of the curriculum have no penalty",
        ),
        (lambda: CurriculumConfig(phases=(Phase(1, boost=0.5),)), "have a boost, but the curriculum has none"),
        (lambda: CurriculumConfig(boost=BoostConfig()), "has a boost, but no phases"),
        (lambda: CurriculumConfig(penalty_lock=PenaltyLock(0.1, 1)), "locks a penalty that no phase has"),
        (lambda: CurriculumConfig(phases=(Phase(1),), gate=GATE), "gate limits a penalty that no phase has"),
        (
            lambda: CurriculumConfig(phases=(Phase(1, penalty=0.1),), gate=GATE),
            "the gate's allowance names phase 3, but there are 1 phases",
        ),
        (lambda: CurriculumConfig(penalty_base=-1.0), "the curriculum's penalty-base must be at least 0"),
        (lambda: CurriculumConfig(size_knob="x", boost_knob="x"), "four knobs must have names of their own"),
    ],
)
def test_parts_that_do_not_fit_are_refused(make, complaint):
    with pytest.raises(ConfigError, match=complaint):
        make()
