"""Numbers that are not finite: found, explained, and without any effect on the weights."""

from dataclasses import replace

import pytest
import torch
from practice import LEARNERS, REPLAY, Practice, practise, random_rollout

from respawn.learners.ppo.config import PPOConfig
from respawn.learners.soundness import explain, not_finite
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.testing.suites.saveable import freeze

NAN, INF = float("nan"), float("inf")
PPO = PPOConfig(epochs=2, minibatches=2)
WAYS = {
    "ppo": (PPO, "none", {}),
    "ppo in parts": (PPO, "none", {"accumulation": 2}),
    "ppo with a core": (PPO, "gru", {}),
    "ppo with a KL limit": (replace(PPO, kl_limit=0.01), "none", {}),
    "ppo with clipped values": (replace(PPO, value_clip=0.2), "none", {}),
    "vtrace": (LEARNERS["vtrace"], "none", {}),
    "vtrace in parts": (LEARNERS["vtrace"], "lstm", {"accumulation": 3}),
    "vtrace with replay": (LEARNERS["vtrace with replay"], "none", {}),
    "vtrace in bfloat16": (LEARNERS["vtrace"], ModelConfig(hidden_sizes=(8,), precision="bfloat16"), {}),
}


def with_bad(rollout, what, bad=NAN):
    """The same rollout with one number that is not finite, where somebody decided."""
    step, lane = rollout.valid.nonzero()[3].tolist()
    spoilt = getattr(rollout, what).clone()
    spoilt[step, lane] = bad
    return replace(rollout, **{what: spoilt})


def all_of(practice: Practice):
    """Whatever an update may change, but for dice and the count of updates."""
    return freeze({"weights": practice.tensors(), "moments": practice.learner.state()["optimizer"]})


@pytest.mark.parametrize(("what", "bad"), [("rewards", NAN), ("rewards", INF), ("observations", NAN)])
@pytest.mark.parametrize("way", WAYS)
def test_what_the_world_spoils_never_reaches_the_weights(way, what, bad):
    config, core, changes = WAYS[way]
    practice = practise(config, core, **changes)
    for seed in range(3):  # so that there are moments, and segments to replay
        practice.learn(random_rollout(practice.model, seed=seed))
    before = all_of(practice)
    spoilt = with_bad(random_rollout(practice.model, seed=3), what, bad)
    metrics = practice.learn(spoilt)
    assert all_of(practice) == before
    assert not_finite(metrics)
    assert f"the world gave {what} that are not" in explain(metrics, spoilt)
    sound = random_rollout(practice.model, seed=4)
    assert not not_finite(practice.learn(sound))
    assert all_of(practice) != before


@pytest.mark.parametrize("way", WAYS)
def test_a_loss_may_be_too_large_where_its_gradient_is_not(way):
    """The loss squares what its gradient does not."""
    config, core, changes = WAYS[way]
    practice = practise(config, core, **changes)
    practice.learn(random_rollout(practice.model))
    before = all_of(practice)
    metrics = practice.learn(with_bad(random_rollout(practice.model, seed=1), "rewards", 1e20))
    assert "loss/value" in not_finite(metrics) and "gradient/norm" not in not_finite(metrics)
    assert all_of(practice) == before


def test_how_nobody_decided_may_be_anything():
    practice = practise(LEARNERS["vtrace"])
    rollout = random_rollout(practice.model)
    spoilt = rollout.behaviour_log_probs.masked_fill(~rollout.valid, NAN)
    assert spoilt.isnan().any()
    assert not not_finite(practice.learn(replace(rollout, behaviour_log_probs=spoilt)))


@pytest.mark.parametrize("way", WAYS)
def test_a_gradient_alone_that_is_not_finite(way):
    config, core, changes = WAYS[way]
    practice = practise(config, core, **changes)
    practice.learn(random_rollout(practice.model))
    before = all_of(practice)
    calls = []

    def spoil(gradient):
        calls.append(gradient)
        return gradient * (INF if len(calls) == 2 else 1.0)

    handle = next(practice.model.parameters()).register_hook(spoil)
    rollout = random_rollout(practice.model, seed=1)
    metrics = practice.learn(rollout)
    if len(calls) < 2:  # one pass, one gradient
        metrics = practice.learn(rollout)
    handle.remove()
    assert len(calls) >= 2
    assert not_finite(metrics) == ["gradient/norm"]
    assert "gradient/norm must be finite and is" in explain(metrics, rollout)
    assert "the learning rate may be too high" in explain(metrics, rollout)
    if way.startswith("ppo"):
        assert all_of(practice) == before  # the steps before the bad one are undone: all of an update or nothing


def test_whoever_gathered_it_may_be_at_fault():
    practice = practise(LEARNERS["vtrace"])
    rollout = with_bad(random_rollout(practice.model), "behaviour_log_probs")
    metrics = practice.learn(rollout)
    assert "gathered the rollout with log-probabilities that are not" in explain(metrics, rollout)


class TestReplay:
    """What is kept is learned from again, so nothing that is not finite may be kept, nor be drawn for ever."""

    def test_a_spoilt_rollout_is_not_kept(self):
        practice = practise(LEARNERS["vtrace with replay"])
        practice.learn(random_rollout(practice.model))
        stored = practice.learner.state()["replay"]["segments"]
        practice.learn(with_bad(random_rollout(practice.model, seed=1), "rewards"))
        assert freeze(practice.learner.state()["replay"]["segments"]) == freeze(stored)

    def test_replayed_segments_that_are_at_fault_are_named_and_drawn_no_more(self):
        practice = practise(VTraceConfig(replay=replace(REPLAY, segments=2)))
        practice.learn(random_rollout(practice.model))
        state = practice.learner.state()
        state["replay"]["segments"]["kept"]["rewards"][0] = NAN
        masses = torch.ones(len(state["replay"]["masses"]), dtype=torch.int64)
        masses[0] = 1 << 40
        state["replay"]["masses"] = masses.numpy()
        practice.learner.restore(state)
        rollout = random_rollout(practice.model, seed=1)
        weights = freeze(practice.tensors())
        metrics = practice.learn(rollout)
        assert not_finite(metrics) == ["gradient/norm"]
        assert "the rollout is sound, and replayed segments are not" in explain(metrics, rollout)
        assert freeze(practice.tensors()) == weights
        assert practice.learner.state()["replay"]["masses"][0] < masses[0] // 1000
