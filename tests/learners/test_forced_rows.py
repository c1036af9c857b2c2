"""What was forced is not the policy's doing: only values learn from it."""

from dataclasses import replace

import pytest
import torch
from practice import LEARNERS, assert_alike, make_model, practise, random_rollout


def forced(rollout, rows, action=None):
    """The same with some rows [T, B] forced, to another action where one is given."""
    actions = rollout.actions if action is None else rollout.actions.masked_fill(rows, action)
    return replace(
        rollout,
        actions=actions,
        scripted=rows,
        behaviour_log_probs=rollout.behaviour_log_probs.masked_fill(rows, 0.0),
    )


def some_rows(rollout):
    return torch.rand(rollout.rewards.shape, generator=torch.Generator().manual_seed(1)) < 0.4


@pytest.mark.parametrize("core", ["none", "gru"])
def test_ppo_does_not_care_which_action_was_forced(core):
    rollout = random_rollout(make_model(core))
    rows = some_rows(rollout)
    learned = []
    for action in (0, 1, 2):
        practice = practise(LEARNERS["ppo"], core)
        practice.learn(forced(rollout, rows, action))
        learned.append(practice.tensors())
    assert_alike(learned[0], learned[1], atol=0.0, rtol=0.0)
    assert_alike(learned[0], learned[2], atol=0.0, rtol=0.0)


@pytest.mark.parametrize("core", ["none", "gru"])
def test_ppo_cares_if_it_is_taken_for_its_own(core):
    rollout = random_rollout(make_model(core))
    rows = some_rows(rollout)
    marked, unmarked = practise(LEARNERS["ppo"], core), practise(LEARNERS["ppo"], core)
    marked.learn(forced(rollout, rows))
    unmarked.learn(rollout)
    assert any(not torch.equal(marked.tensors()[name], value) for name, value in unmarked.tensors().items())


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_rollout_that_was_forced_throughout_is_sound(learner):
    practice = practise(LEARNERS[learner])
    rollout = random_rollout(practice.model)
    metrics = practice.learn(forced(rollout, torch.ones_like(rollout.valid), 1))
    assert all(torch.isfinite(torch.tensor(value)) for value in metrics.values())
    assert all(torch.isfinite(value).all() for value in practice.tensors().values())
    assert metrics["policy/entropy"] > 0.1  # what the policy would have done is as open as ever


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_policy_moves_by_what_was_forced_throughout(learner):
    """Only the critic learns from it; the policy's own head has nothing to go by. Nor when it is replayed."""
    practice = practise(LEARNERS[learner])
    before = {name: value.clone() for name, value in practice.tensors().items()}
    rollout = random_rollout(practice.model)
    everywhere = forced(rollout, torch.ones_like(rollout.valid), 1)
    for _ in range(2):
        metrics = practice.learn(everywhere)
    moved = {name for name, value in practice.tensors().items() if not torch.equal(value, before[name])}
    assert not any("policy_head" in name for name in moved)
    assert any("value" in name for name in moved)
    assert metrics["policy/kl"] == metrics["loss/policy"] == 0.0
    assert metrics.get("policy/clip_fraction", 0.0) == 0.0


def test_vtrace_does_not_take_what_was_forced_for_an_older_policys_doing():
    """The policy that acted is the one that learns: whatever was forced, its ratios are 1."""
    practice = practise(LEARNERS["vtrace"])
    rollout = random_rollout(practice.model)
    metrics = practice.learn(forced(rollout, some_rows(rollout)))
    assert metrics["policy/kl"] == pytest.approx(0.0, abs=1e-6)
    assert metrics["policy/rho_mean"] == pytest.approx(1.0, abs=1e-5)
    assert metrics["policy/rho_clipped_fraction"] == 0.0


def test_nor_when_it_is_replayed():
    practice = practise(LEARNERS["vtrace with replay"])
    rollout = random_rollout(practice.model)
    practice.learn(forced(rollout, some_rows(rollout)), learning_rate=0.0)
    metrics = practice.learn(rollout, learning_rate=0.0)
    assert metrics["replay/sampled"] == 1.0
    assert metrics["replay/rho_mean"] == pytest.approx(1.0, abs=1e-5)
