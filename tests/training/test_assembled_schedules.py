"""Which schedules a configuration becomes."""

from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.world import DiscreteActions, ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.presets.fish_v40 import PLANNED_UPDATES, SCHEDULES
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curriculum import Curriculum
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.curves import Curve
from respawn.schedules.director import Director
from respawn.schedules.phases import Phase
from respawn.schedules.windows import ValueWindow, Windows
from respawn.training.assemble import _schedules
from respawn.training.config import RunConfig

KNOBS = (
    KnobSpec("learning_rate", 0.01, 0.0, 1.0),
    KnobSpec("entropy_cost", 0.02, 0.0, 1.0),
    KnobSpec("school_size", 25, 1, 25),
    KnobSpec("density_penalty", 0.0, 0.0, 1.0),
    KnobSpec("escape_boost", 0.8, 0.0, 1.0),
    KnobSpec("hard_start_share", 0.0, 0.0, 1.0),
)
WORLD = WorldSpec(
    "tank", ObservationSpec((4,)), DiscreteActions(5), num_lanes=4 * 25, knobs=KNOBS[2:], lanes_per_episode=25
)


def schedules(config, planned=PLANNED_UPDATES):
    return _schedules(RunConfig(planned_updates=planned, schedules=config), KNOBS, WORLD)


def test_without_more_there_are_curves_alone():
    assert [type(schedule) for schedule in schedules(SchedulesConfig())] == [Curve, Curve]
    assert [type(schedule) for schedule in schedules(SchedulesConfig(curriculum=CurriculumConfig()))] == [Curve, Curve]


def test_windows_take_the_place_of_the_curve():
    config = SchedulesConfig(entropy_cost=CurveConfig("linear"), entropy_windows=(ValueWindow(2, 2, 0.5),))
    found = schedules(config)
    assert sorted(type(schedule).__name__ for schedule in found) == ["Curve", "Windows"]
    knobs = Director(KNOBS, found)
    assert [knobs.knobs(Clock(updates=updates))["entropy_cost"] for updates in (0, 1, 2)] == [0.02, 0.5, 0.02]
    assert any(isinstance(schedule, Windows) for schedule in found)


def test_a_curriculum_gets_the_schools_of_its_world():
    found = schedules(SCHEDULES)
    assert any(isinstance(schedule, Curriculum) for schedule in found)
    knobs = Director(KNOBS, found).knobs(Clock())
    assert (knobs["school_size"], knobs["escape_boost"], knobs["hard_start_share"]) == (15.0, 0.75, 1.0)
    assert len(knobs.starts) == 2 * 4


def test_a_curriculum_that_does_not_fill_the_plan_is_refused():
    config = replace(SCHEDULES, curriculum=CurriculumConfig(phases=(Phase(5, size=1), Phase(6, size=2))))
    with pytest.raises(ConfigError, match="last 11 updates together, but 12 are planned"):
        schedules(config, planned=12)
