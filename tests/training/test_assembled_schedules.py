"""Which schedules a configuration becomes."""

from dataclasses import replace

import pytest

from respawn.collection.config import CollectionConfig
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
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.phases import Phase
from respawn.schedules.windows import ValueWindow, Windows
from respawn.training.assemble import _schedules
from respawn.training.config import RunConfig
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig

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


LONG, CUT, MARIO = FishConfig(limit_steps=500), FishConfig(limit_steps=500, forced_reset_steps=40), MarioConfig()


@pytest.mark.parametrize(
    ("world", "collection", "least", "offered"),
    [
        (LONG, {"horizon_steps": 100}, 1, 2),  # one that ends early, and one more
        (LONG, {"horizon_steps": 501}, 1, 3),
        (FishConfig(limit_steps=50), {"horizon_steps": 100}, 1, 3),
        (CUT, {"horizon_steps": 40}, 1, 2),
        (CUT, {"horizon_steps": 100}, 1, 4),
        (CUT, {"horizon_steps": 100}, 9, 9),
        (CUT, {"horizon_steps": 100, "lag": 1}, 1, 8),
        (CUT, {"horizon_steps": 100, "actors": 1}, 1, 8),
        (CUT, {"horizon_steps": 100, "actors": 1, "most_lag": 3}, 1, 16),
        (CUT, {"horizon_steps": 100, "actors": 3}, 1, 16),
        (MARIO, {"horizon_steps": 16}, 1, 2),
        (MARIO, {"horizon_steps": 64}, 1, 5),
        (MARIO, {"horizon_steps": 64, "lag": 1}, 1, 10),
        (MARIO, {"horizon_steps": 64, "lag": 1}, 11, 11),
        (RecallConfig(), {"horizon_steps": 64}, 1, 1),  # a world that says nothing of how short episodes are
    ],
)
def test_as_many_hard_starts_are_laid_out_as_may_be_taken(world, collection, least, offered, starts_of_mario):
    stage = HardStartStage(12, starts_of_mario if world is MARIO else "v34-ne")
    hard_starts = HardStartsConfig(stages=(stage,), offered_per_school=least)
    config = RunConfig(
        planned_updates=12,
        world=world,
        collection=CollectionConfig(num_lanes=WORLD.num_lanes, **collection),
        schedules=SchedulesConfig(curriculum=CurriculumConfig(hard_starts=hard_starts)),
    )
    schools = config.collection.num_worlds * WORLD.num_lanes // WORLD.lanes_per_episode
    assert len(Director(KNOBS, _schedules(config, KNOBS, WORLD)).knobs(Clock()).starts) == offered * schools
