import pytest
from practice import LEARNERS, practise

from respawn.errors import ConfigError
from respawn.learners.config import ENTROPY_COSTS, LEARNING_RATES, OptimizerConfig
from respawn.learners.ppo.config import CLIPS, PPOConfig
from respawn.learners.vtrace.config import VTraceConfig

RANGES = {"learning_rate": LEARNING_RATES, "entropy_cost": ENTROPY_COSTS, "ppo_clip": CLIPS, "replay_beta": (0, 1)}


@pytest.mark.parametrize("name", LEARNERS)
def test_what_may_be_set_is_what_schedules_may_turn(name):
    for knob in practise(LEARNERS[name]).learner.knobs:
        assert (knob.low, knob.high) == RANGES[knob.name]


@pytest.mark.parametrize("kind", [PPOConfig, VTraceConfig])
def test_settings_beyond_a_knobs_range_are_refused_by_their_option(kind):
    with pytest.raises(ConfigError, match=r"^learner\.optimizer\.learning-rate must be from 0\.0 to 1\.0, not 5\.0$"):
        kind(optimizer=OptimizerConfig(learning_rate=5.0))
    with pytest.raises(ConfigError, match=r"^learner\.entropy-cost must be from 0\.0 to 100\.0, not 1000\.0$"):
        kind(entropy_cost=1000.0)


def test_a_clip_beyond_its_range_is_refused():
    with pytest.raises(ConfigError, match=r"^learner\.clip must be from 0\.0 to 10\.0, not 11\.0$"):
        PPOConfig(clip=11.0)
