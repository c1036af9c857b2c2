"""PPO: its settings do what they say."""

from dataclasses import replace

import pytest
import torch
from practice import assert_alike, make_model, practise, random_rollout

from respawn.errors import ConfigError
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.ppo.minibatches import one_row, shuffled, whole_batch
from respawn.maths.gae import GAE
from respawn.maths.seeding import make_generator

ONE_STEP = {"epochs": 1, "minibatches": 1}


def praised(model, shift=0.0):
    """A rollout in which every action was worth doing, gathered by a policy that liked each less by `shift`."""
    rollout = random_rollout(model, with_gaps=False)
    with torch.no_grad():
        model.value_head.linear.weight.zero_()
    rewards = torch.ones_like(rollout.rewards)
    return replace(rollout, rewards=rewards, behaviour_log_probs=rollout.behaviour_log_probs - shift)


def policy_alone(core="none", **changes):
    settings = {"value_cost": 0.0, "entropy_cost": 0.0, "normalise_advantages": False, **ONE_STEP}
    return practise(PPOConfig(), core, **(settings | changes))


@pytest.mark.parametrize(
    ("shift", "clip", "moves"), [(0.5, 0.2, False), (0.5, 1.0, True), (0.1, 0.2, True), (-0.5, 0.2, True)]
)
def test_ratios_beyond_the_clip_are_not_followed(shift, clip, moves):
    """Ratio e^0.5 = 1.65 is beyond 1.2; e^-0.5 = 0.61 is below 0.8, where a worthwhile action is still pushed up."""
    practice = policy_alone(clip=clip)
    rollout = praised(practice.model, shift)
    before = practice.tensors()
    metrics = practice.learn(rollout)
    assert (metrics["gradient/norm"] > 1e-3) == moves
    if not moves:
        assert metrics["policy/clip_fraction"] == 1.0
        assert_alike(practice.tensors(), before, atol=0.0, rtol=0.0)


def test_the_clip_is_a_knob():
    practice = policy_alone(clip=0.2)
    metrics = practice.learn(praised(practice.model, 0.5), ppo_clip=1.0)
    assert metrics["policy/clip_fraction"] == 0.0
    assert metrics["gradient/norm"] > 1e-3


@pytest.mark.parametrize(("core", "steps"), [("none", 3 * 4), ("gru", 3 * 4)])
def test_epochs_and_minibatches_make_the_steps(core, steps):
    practice = practise(PPOConfig(), core, epochs=3, minibatches=4)
    metrics = practice.learn(random_rollout(practice.model))
    assert practice.num_steps == steps
    assert metrics["policy/epochs"] == 3.0


def test_there_are_never_more_minibatches_than_lanes():
    practice = practise(PPOConfig(), "gru", epochs=2, minibatches=50)
    practice.learn(random_rollout(practice.model, with_gaps=False))
    assert practice.num_steps == 2 * 5


def test_the_kl_limit_ends_the_passes():
    rollout = random_rollout(make_model())
    free = practise(PPOConfig(), epochs=6, learning_rate=0.03, kl_limit=0.0)
    held = practise(PPOConfig(), epochs=6, learning_rate=0.03, kl_limit=0.01)
    freely, limited = free.learn(rollout), held.learn(rollout)
    assert free.num_steps == 24
    assert 0 < held.num_steps < 24
    assert freely["policy/epochs"] == 6.0
    assert limited["policy/epochs"] == held.num_steps // 4
    assert freely["policy/kl"] > limited["policy/kl"] > 0.0
    assert set(limited) == set(freely)


def test_a_rollout_beyond_the_kl_limit_is_not_learned_from():
    practice = practise(PPOConfig(), kl_limit=0.01)
    before = practice.tensors()
    metrics = practice.learn(praised(practice.model, 2.0))
    assert_alike(practice.tensors() | {"value_head.linear.weight": 0.0}, before | {"value_head.linear.weight": 0.0})
    assert practice.num_steps == 0
    assert metrics["policy/epochs"] == 0.0
    assert metrics["gradient/norm"] == 0.0
    assert metrics["policy/kl"] > 0.01
    assert practice.learner.weights().version == 1


def test_the_value_clip_holds_values_back():
    """Targets near 7, values at 0: after many passes the clipped critic has gone little further than its leash."""

    def mean_value_after(value_clip):
        practice = policy_alone(value_cost=1.0, value_clip=value_clip, epochs=60, learning_rate=0.01)
        rollout = praised(practice.model)
        first = practice.learn(rollout)
        assert first["value/mean"] == 0.0
        return practice.learn(rollout)["value/mean"]

    assert mean_value_after(0.0) > 1.0
    assert 0.05 < mean_value_after(0.1) < 0.5


def test_the_value_clip_leaves_the_first_step_alone():
    rollout = random_rollout(make_model())
    free, held = (practise(PPOConfig(), value_clip=clip, **ONE_STEP) for clip in (0.0, 0.1))
    assert_alike(free.learn(rollout), held.learn(rollout))
    assert_alike(free.tensors(), held.tensors())


@pytest.mark.parametrize(("normalise", "factor"), [(True, 1.0), (False, 10.0)])
def test_advantages_are_brought_to_one_scale(normalise, factor):
    norms = []
    for scale in (1.0, 10.0):
        practice = policy_alone(normalise_advantages=normalise)
        rollout = praised(practice.model)
        varied = random_rollout(practice.model, seed=1).rewards
        norms.append(practice.learn(replace(rollout, rewards=scale * varied))["gradient/norm"])
    assert norms[1] / norms[0] == pytest.approx(factor, rel=1e-3)


def batch_of(core):
    rollout = random_rollout(make_model(core), with_gaps=False)
    number = torch.arange(35.0).reshape(7, 5)
    return whole_batch(rollout, number, GAE(number, number))


def test_recurrent_minibatches_take_whole_lanes():
    batch = batch_of("gru")
    seen = []
    for minibatch in shuffled(batch, 2, make_generator(0)):
        for column in range(minibatch.valid.shape[1]):
            lane = int(minibatch.targets[0, column])
            assert torch.equal(minibatch.targets[:, column], batch.targets[:, lane])
            assert torch.equal(minibatch.observations[:, column], batch.observations[:, lane])
            assert torch.equal(minibatch.starts[:, column], batch.starts[:, lane])
            assert torch.equal(minibatch.memory["hidden"][column], batch.memory["hidden"][lane])
            seen.append(lane)
    assert sorted(seen) == [0, 1, 2, 3, 4]


def test_minibatches_without_a_core_take_any_rows_once():
    minibatches = list(shuffled(one_row(batch_of("none")), 4, make_generator(0)))
    assert [m.valid.shape for m in minibatches] == [(1, 9), (1, 9), (1, 9), (1, 8)]
    seen = torch.cat([m.targets[0] for m in minibatches])
    assert not torch.equal(seen, torch.arange(35.0))
    assert torch.equal(seen.sort().values, torch.arange(35.0))


def test_passes_are_shuffled_anew():
    generator = make_generator(0)
    batch = one_row(batch_of("none"))
    first, second = (torch.cat([m.targets[0] for m in shuffled(batch, 4, generator)]) for _ in range(2))
    assert not torch.equal(first, second)


@pytest.mark.parametrize("core", ["none", "gru"])
def test_a_rollout_of_nobody_teaches_nothing(core):
    practice = practise(PPOConfig(), core)
    rollout = random_rollout(practice.model)
    before = practice.tensors()
    metrics = practice.learn(replace(rollout, valid=torch.zeros_like(rollout.valid)))
    assert_alike(practice.tensors(), before, atol=0.0, rtol=0.0)
    assert metrics["gradient/norm"] == 0.0


@pytest.mark.parametrize(
    "settings",
    [
        {"clip": 0.0},
        {"epochs": 0},
        {"minibatches": 0},
        {"discount": 1.1},
        {"trace_decay": -0.1},
        {"kl_limit": -1.0},
        {"value_cost": -1.0},
        {"value_clip": float("nan")},
        {"entropy_cost": -0.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=f"learner.{next(iter(settings)).replace('_', '-')}"):
        PPOConfig(**settings)
