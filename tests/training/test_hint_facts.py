from dataclasses import replace

import pytest
import torch

from respawn.checkpoints.config import CheckpointsConfig
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.observers.hint_view import JUDGED_BY
from respawn.presets import find_preset
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.windows import KnobWindow
from respawn.training.hint_facts import hint_facts

CPU = torch.device("cpu")


def facts_of(preset, actions=None, **changed):
    spec = WorldSpec("any", ObservationSpec((1,)), actions or DiscreteActions(7), 2, share_counts=("forward",))
    return hint_facts(replace(find_preset(preset), **changed), spec, CPU)


def test_a_run_is_told_as_it_is():
    config = find_preset("mario-vtrace")
    found = facts_of("mario-vtrace")
    assert (found.learner, found.num_actions, found.device_type) == ("vtrace", 7, "cpu")
    assert (found.num_lanes, found.horizon_steps) == (config.collection.num_lanes, config.collection.horizon_steps)
    assert found.progress_metric == "world/forward_share" and not found.has_replay
    assert found.lag == config.collection.lag and found.is_threaded is config.collection.threaded
    assert facts_of("cartpole-ppo").learner == "ppo" and facts_of("cartpole-ppo").usable_cores >= 1


def test_by_what_the_best_checkpoint_is_kept():
    assert facts_of("cartpole-ppo").best_kept_by == JUDGED_BY
    assert facts_of("mario").best_kept_by == "evaluation/cleared"
    assert facts_of("mario", checkpoints=CheckpointsConfig(keep_best=0)).best_kept_by == ""


def test_on_a_lower_rung_it_is_smaller():
    before = facts_of("cartpole-ppo")
    after = facts_of("cartpole-ppo", stepped_down=("horizon", "lanes"))
    assert (after.horizon_steps, after.num_lanes) == (before.horizon_steps // 2, before.num_lanes // 2)


@pytest.mark.parametrize(("preset", "compares"), [("mario", True), ("mario-curriculum", False), ("fish", False)])
def test_returns_compare_only_where_the_same_is_played(preset, compares):
    assert facts_of(preset).is_judged_as_trained is compares


@pytest.mark.parametrize(
    "schedules",
    [
        {"reward_scale": CurveConfig("linear", initial_fraction=0.1, final_fraction=10.0)},
        {"reward_scale": CurveConfig(initial_fraction=0.5)},
        {"reward_scale": CurveConfig(warmup_fraction=0.5)},
        {"windows": (KnobWindow("reward_scale", 1, 2.0),)},
        {"adaptive": (AdaptiveConfig("return/mean", "reward_scale", 1.0, 2.0, 0.5, 3.0),)},
    ],
    ids=["curve", "constant", "warm-up", "window", "channel"],
)
def test_returns_do_not_compare_where_a_knob_of_the_world_is_turned(schedules):
    config = replace(find_preset("mario"), schedules=SchedulesConfig(**schedules))
    turned, other = (
        WorldSpec("any", ObservationSpec((1,)), DiscreteActions(7), 2, knobs=(KnobSpec(name, 1.0, 0.0, 10.0),))
        for name in ("reward_scale", "reward_flag")
    )
    assert not hint_facts(config, turned, CPU).is_judged_as_trained
    assert hint_facts(config, other, CPU).is_judged_as_trained


def test_continuous_actions_have_no_number():
    assert facts_of("cartpole-ppo", actions=ContinuousActions(1)).num_actions is None
