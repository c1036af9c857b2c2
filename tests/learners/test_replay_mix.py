"""Replay adds the corrected gradient of what was gathered earlier, when it is due."""

from dataclasses import replace

import pytest
import torch
from practice import CORES, make_model, practise, random_rollout

from respawn.errors import ConfigError
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig

ROLLOUT = 7 * 5


def replaying(core="none", gradient_norm=0.5, **settings):
    config = ReplayConfig(**{"capacity_decisions": 20 * ROLLOUT, "segments": 5, **settings})
    return practise(VTraceConfig(), core, replay=config, gradient_norm=gradient_norm)


def rollouts(count, core="none", *, with_gaps=False):
    model = make_model(core)
    return [random_rollout(model, seed=seed, with_gaps=with_gaps) for seed in range(count)]


def learned(practice, number=6, **knobs):
    """The weights after some updates on rollouts that are always the same."""
    for rollout in rollouts(number):
        practice.learn(rollout, **knobs)
    return torch.cat([part.flatten() for part in practice.tensors().values()])


@pytest.mark.parametrize("core", CORES)
def test_a_replayed_rollout_is_learned_from_as_if_it_were_new(core):
    """With alpha 0 all of the first rollout is drawn, once, after the weights have moved away from it."""
    first, second = rollouts(2, core)
    practice = replaying(core, alpha=0.0)
    practice.learn(first, learning_rate=0.05)
    plain = practise(VTraceConfig(), core)
    plain.model.load_state_dict(practice.model.state_dict())
    together, alone = practice.learn(second), plain.learn(first)
    assert together["replay/unique"] == 1.0
    assert together["replay/rho_mean"] == pytest.approx(alone["policy/rho_mean"], rel=1e-4)
    assert abs(together["replay/rho_mean"] - 1.0) > 1e-3  # the weights have moved, and the correction knows
    for name in ("policy", "value"):
        assert together[f"replay/loss_{name}"] == pytest.approx(alone[f"loss/{name}"], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("with_gaps", [False, True])
def test_the_gradient_is_that_of_both(with_gaps):
    first, second = rollouts(2, with_gaps=with_gaps)
    practice = replaying(alpha=0.0, cost=0.5, gradient_norm=0.0)
    practice.learn(first, learning_rate=0.05)
    before = {name: tensor.clone() for name, tensor in practice.model.state_dict().items()}
    gradients = []
    for rollout in (second, first):
        plain = practise(VTraceConfig(), gradient_norm=0.0)
        plain.model.load_state_dict(before)
        plain.learn(rollout)
        gradients.append([each.grad.clone() for each in plain.model.parameters()])
    practice.learn(second)
    for found, new, old in zip(practice.model.parameters(), *gradients, strict=True):
        torch.testing.assert_close(found.grad, new + 0.5 * old, rtol=1e-3, atol=1e-5)


def test_every_updates_says_when():
    practice = replaying(every_updates=3)
    assert [practice.learn(each)["replay/sampled"] for each in rollouts(7)] == [0, 0, 1, 0, 0, 1, 0]


def test_nothing_is_replayed_before_there_is_enough():
    practice = replaying(segments=12)
    assert [practice.learn(each)["replay/sampled"] for each in rollouts(5)] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(("trigger", "sampled"), [(4.0, 1.0), (1e9, 0.0)])
def test_variance_asks_for_replay(trigger, sampled):
    practice = replaying(every_updates=0, variance_trigger=trigger)
    calm = [practice.learn(each)["replay/sampled"] for each in rollouts(4)]
    surprising = rollouts(1)[0]
    surprising = replace(surprising, rewards=30.0 * surprising.rewards)
    assert calm == [0, 0, 0, 0]
    told = practice.learn(surprising)
    assert told["replay/sampled"] == sampled
    assert told["replay/td_variance"] > 10


@pytest.mark.parametrize(
    "settings", [{"cost": 0.2}, {"alpha": 0.0}, {"epsilon": 1.0}, {"segments": 3}, {"every_updates": 2}]
)
def test_each_setting_changes_what_is_learned(settings):
    usual, other = learned(replaying()), learned(replaying(**settings))
    assert not torch.equal(usual, other)
    assert torch.equal(usual, learned(replaying()))


def test_replay_changes_what_is_learned_and_beta_is_heard():
    assert not torch.equal(learned(replaying()), learned(practise(VTraceConfig())))
    assert not torch.equal(learned(replaying(), replay_beta=0.0), learned(replaying(), replay_beta=1.0))
    practice = replaying()
    first, second, third = rollouts(3)
    practice.learn(first)
    assert practice.learn(second, replay_beta=0.0)["replay/weight_mean"] == 1.0
    assert practice.learn(third, replay_beta=1.0)["replay/weight_mean"] < 0.99


def test_where_segments_rest_and_who_draws_changes_no_number():
    usual = learned(replaying())
    for settings in ({"sampler": "tree"}, {"sampler": "device"}, {"storage": "cpu"}, {"fallback_ms": 1e-9}):
        assert torch.equal(usual, learned(replaying(**settings))), settings


def test_parts_of_a_replay_add_up():
    whole = replaying()
    parts = practise(VTraceConfig(), replay=ReplayConfig(capacity_decisions=20 * ROLLOUT, segments=5), accumulation=3)
    torch.testing.assert_close(learned(whole), learned(parts), rtol=1e-4, atol=1e-5)


def test_the_knob_is_there_only_with_replay():
    assert "replay_beta" in {knob.name for knob in replaying().learner.knobs}
    assert "replay_beta" not in {knob.name for knob in practise(VTraceConfig()).learner.knobs}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"capacity_decisions": 0, "alpha": 0.3}, "alpha has no effect without replay"),
        ({"every_updates": 0}, "never replays without"),
        ({"variance_trigger": 2.0}, "variance-trigger has no effect with"),
        ({"sampler": "tree", "fallback_ms": 1.0}, "fallback-ms has no effect with"),
        ({"alpha": 1.5}, "learner.replay.alpha"),
        ({"memory_gb": 0.0}, "learner.replay.memory-gb"),
    ],
)
def test_settings_without_effect_are_refused(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        ReplayConfig(**{"capacity_decisions": 1_000, **settings})


@pytest.mark.parametrize(("alpha", "is_there"), [(0.6, True), (0.0, False)])
def test_beta_is_a_knob_where_there_is_a_preference_to_undo(alpha, is_there):
    practice = replaying(alpha=alpha)
    assert ("replay_beta" in {knob.name for knob in practice.learner.knobs}) == is_there
    first, second = rollouts(2)
    practice.learn(first)
    assert practice.learn(second)["replay/sampled"] == 1.0
