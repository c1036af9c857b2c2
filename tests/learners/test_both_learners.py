"""What holds for both learners: accumulation, rows that are nobody's, precision, entropy, the learning rate."""

from dataclasses import replace

import pytest
import torch
from practice import CORES, LEARNERS, assert_alike, make_model, practise, random_rollout

from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.targets import make_targets

both = pytest.mark.parametrize("name", LEARNERS)


@both
@pytest.mark.parametrize("core", ["none", "gru", "transformer"])
@pytest.mark.parametrize("parts", [2, 3])
def test_accumulation_changes_nothing_but_memory(name, core, parts):
    """Five lanes do not divide by 2 or 3, and some rows are nobody's."""
    rollout = random_rollout(make_model(core))
    assert 0 < int(rollout.valid.sum()) < rollout.valid.numel()
    assert len(rollout.cuts) > 0
    whole = practise(LEARNERS[name], core)
    pieces = practise(LEARNERS[name], core, accumulation=parts)
    for _ in range(2):
        assert_alike(whole.learn(rollout), pieces.learn(rollout), atol=2e-5, rtol=1e-3)
    assert_alike(whole.tensors(), pieces.tensors(), atol=1e-5)


def absent_lane(rollout):
    """Lane 1: an episode ends at row 1, nobody is there in rows 2 to 4, and the next one begins at row 5."""
    terminated, truncated, valid = (each.clone() for each in (rollout.terminated, rollout.truncated, rollout.valid))
    terminated[:, 1], truncated[:, 1], valid[:, 1] = False, False, True
    terminated[[1, 4], 1], valid[2:5, 1] = True, False
    kept = rollout.cuts[:, 1] != 1
    return replace(
        rollout,
        terminated=terminated,
        truncated=truncated,
        valid=valid,
        cuts=rollout.cuts[kept],
        cut_observations=rollout.cut_observations[kept],
    )


@both
@pytest.mark.parametrize("core", ["none", "gru", "transformer"])
def test_rows_that_are_nobodys_teach_nothing(name, core):
    rollout = absent_lane(random_rollout(make_model(core)))
    observations, rewards = rollout.observations.clone(), rollout.rewards.clone()
    actions, log_probs = rollout.actions.clone(), rollout.behaviour_log_probs.clone()
    observations[2:5, 1] += 3.0
    rewards[2:5, 1] = 1000.0
    actions[2:5, 1] = (actions[2:5, 1] + 1) % 3
    log_probs[2:5, 1] -= 7.0
    garbled = replace(
        rollout, observations=observations, rewards=rewards, actions=actions, behaviour_log_probs=log_probs
    )
    clean, dirty = practise(LEARNERS[name], core), practise(LEARNERS[name], core)
    assert_alike(clean.learn(rollout), dirty.learn(garbled))
    assert_alike(clean.tensors(), dirty.tensors())
    later = random_rollout(make_model(core), seed=1)  # by now whoever replays replays those rows
    assert_alike(clean.learn(later), dirty.learn(later))
    assert_alike(clean.tensors(), dirty.tensors())


@both
def test_garbage_would_have_mattered(name):
    """The test above can fail: the same garbage in rows that are somebody's changes the weights."""
    rollout = replace(absent_lane(random_rollout(make_model())), valid=torch.ones(7, 5, dtype=torch.bool))
    rewards = rollout.rewards.clone()
    rewards[2:5, 1] = 1000.0
    clean, dirty = practise(LEARNERS[name]), practise(LEARNERS[name])
    clean.learn(rollout)
    dirty.learn(replace(rollout, rewards=rewards))
    with pytest.raises(AssertionError):
        assert_alike(clean.tensors(), dirty.tensors())


@both
def test_bfloat16_learns_with_float32_weights_and_losses(name):
    model = replace(CORES["gru"], precision="bfloat16")
    practice = practise(LEARNERS[name], model, learning_rate=0.01, gradient_norm=0.0, discount=0.0)
    rollout = random_rollout(practice.model)
    losses = [practice.learn(rollout)["loss/value"] for _ in range(20)]
    assert losses[-1] < 0.7 * losses[0]
    assert {tensor.dtype for tensor in practice.tensors().values()} == {torch.float32}
    moments = practice.learner.state()["optimizer"]
    assert {value.dtype for each in moments.values() for value in each.values()} == {torch.float32}


def test_bfloat16_computes_targets_in_float32():
    practice = practise(VTraceConfig(), replace(CORES["none"], precision="bfloat16"))
    rollout = random_rollout(practice.model)
    targets = make_targets(practice.learner._trainee, rollout, VTraceConfig())
    for field in ("log_probs", "entropies", "values", "log_rhos", "targets", "advantages"):
        assert getattr(targets, field).dtype == torch.float32, field
    plain = make_model()
    starts = torch.zeros(8, 5, dtype=torch.bool)
    exact = plain.unroll(rollout.observations, {}, starts, rollout.cuts, rollout.cut_observations)
    difference = (targets.values - exact.values[:-1]).abs().max()
    assert 0.0 < difference < 0.05  # it did compute in bfloat16, and not in something worse


@both
def test_the_price_of_entropy_is_a_knob(name):
    entropies = []
    for price in (0.0, 1.0):
        practice = practise(LEARNERS[name], learning_rate=0.03)
        rollout = random_rollout(practice.model)
        for _ in range(10):
            metrics = practice.learn(rollout, entropy_cost=price)
        entropies.append(metrics["policy/entropy"])
    assert entropies[1] > entropies[0] + 0.05


@both
def test_a_learning_rate_of_zero_moves_nothing(name):
    practice = practise(LEARNERS[name])
    before = practice.tensors()
    practice.learn(random_rollout(practice.model), learning_rate=0.0)
    assert_alike(practice.tensors(), before, atol=0.0, rtol=0.0)


@both
def test_the_gradient_limit_is_reported(name):
    rollout = random_rollout(make_model())
    tight = practise(LEARNERS[name], gradient_norm=1e-4).learn(rollout)
    free = practise(LEARNERS[name], gradient_norm=0.0).learn(rollout)
    assert tight["gradient/clipped_fraction"] == 1.0
    assert free["gradient/clipped_fraction"] == 0.0
    assert tight["gradient/norm"] > 1e-4


@both
def test_noise_is_drawn_from_the_learners_own_dice(name):
    model = replace(CORES["none"], noisy=True)
    rollout = random_rollout(make_model(model))
    first, second, other = (practise(LEARNERS[name], model) for _ in range(3))
    other.learner._trainee.generator.manual_seed(99)
    first.learn(rollout), second.learn(rollout), other.learn(rollout)
    assert_alike(first.tensors(), second.tensors(), atol=0.0, rtol=0.0)
    with pytest.raises(AssertionError):
        assert_alike(first.tensors(), other.tensors())
