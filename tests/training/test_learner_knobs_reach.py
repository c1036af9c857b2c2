"""What schedules decide for the learner reaches the weights of that very update, whoever gathers."""

from dataclasses import replace

import pytest
import torch
from heard_runs import LANES, small_run, ways

from respawn.errors import ConfigError, KnobError
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.windows import KnobWindow
from respawn.worlds.mario.config import MarioConfig

RATE = OptimizerConfig(learning_rate=0.01)
LEARNERS = {
    "ppo": PPOConfig(optimizer=RATE, epochs=2, minibatches=1, clip=0.2, entropy_cost=0.01),
    "vtrace": VTraceConfig(optimizer=RATE),
    "replay": VTraceConfig(optimizer=RATE, replay=ReplayConfig(capacity_decisions=192, segments=4, alpha=1.0)),
}
KNOBS = [
    ("ppo", "learning_rate", 0.002),
    ("ppo", "entropy_cost", 0.5),
    ("ppo", "ppo_clip", 0.001),
    ("vtrace", "learning_rate", 0.002),
    ("vtrace", "entropy_cost", 0.5),
    ("replay", "entropy_cost", 0.5),
    ("replay", "replay_beta", 0.0),
]
WAYS = ways(replace(LANES, num_lanes=4, horizon_steps=12))


def learning(learner, way, *windows):
    return small_run(
        3,
        WAYS[way],
        learner=LEARNERS[learner],
        world=MarioConfig(actions="right", start_jitter=8, limit_steps=20),
        schedules=SchedulesConfig(learning_rate=CurveConfig(), windows=windows),
    )


def are_equal(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("learner", "knob", "value"), KNOBS)
def test_a_knob_changes_the_weights_from_its_update_on(learner, knob, value, way, train):
    plain = train(learning(learner, way))
    turned = train(learning(learner, way, KnobWindow(knob, first=2, value=value)))
    agree = [are_equal(one, other) for one, other in zip(plain.weights, turned.weights, strict=True)]
    assert agree == [True, False, False]
    for one, other in zip(plain.rollouts[:2], turned.rollouts[:2], strict=True):
        assert torch.equal(one.rewards, other.rewards)  # so far it is the learner's doing alone
    assert [row[f"knob/{knob}"] for row in turned.rows][1:] == [value] * 2


@pytest.mark.parametrize(
    ("learner", "knob"), [("vtrace", "ppo_clip"), ("ppo", "replay_beta"), ("vtrace", "replay_beta")]
)
def test_a_knob_that_a_learner_does_not_have_is_refused(learner, knob, train):
    with pytest.raises((ConfigError, KnobError), match=knob):
        train(learning(learner, "sync", KnobWindow(knob, first=2, value=0.5)))
