from dataclasses import replace

import pytest
import torch

from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.presets import find_preset
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


def test_on_a_lower_rung_it_is_smaller():
    before = facts_of("cartpole-ppo")
    after = facts_of("cartpole-ppo", stepped_down=("horizon", "lanes"))
    assert (after.horizon_steps, after.num_lanes) == (before.horizon_steps // 2, before.num_lanes // 2)


@pytest.mark.parametrize(("preset", "compares"), [("mario", True), ("mario-curriculum", False), ("fish", False)])
def test_returns_compare_only_where_the_same_is_played(preset, compares):
    assert facts_of(preset).is_judged_as_trained is compares


def test_continuous_actions_have_no_number():
    assert facts_of("cartpole-ppo", actions=ContinuousActions(1)).num_actions is None
