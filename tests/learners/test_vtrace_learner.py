"""V-trace: data of older weights is corrected, within the clips."""

from dataclasses import replace

import pytest
import torch
from practice import make_model, practise, random_rollout

from respawn.errors import ConfigError
from respawn.learners.config import OptimizerConfig
from respawn.learners.optimizer import Optimizer
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.targets import make_targets
from respawn.maths.seeding import make_generator


def trainee_of(model):
    return Trainee(model, Optimizer(model, OptimizerConfig()), make_generator(0))


def stale_rollout(num_lanes=8):
    """One-step episodes: a policy of 1/2, 1/4, 1/4 acted, and each action was taken just as often."""
    actions = torch.tensor([[0, 0, 0, 0, 1, 1, 2, 2]])
    rewards = torch.tensor([1.0, -2.0, 4.0])[actions]
    return replace(
        random_rollout(make_model(), num_rows=1, num_lanes=num_lanes, with_gaps=False),
        actions=actions,
        behaviour_log_probs=torch.tensor([0.5, 0.25, 0.25])[actions].log(),
        rewards=rewards,
        terminated=torch.ones(1, 8, dtype=torch.bool),
        truncated=torch.zeros(1, 8, dtype=torch.bool),
        cuts=torch.zeros(0, 2, dtype=torch.int64),
        cut_observations=torch.zeros(0, 3),
    )


def indifferent_model(value=0.5):
    """Takes each of three actions with probability 1/3 and expects `value` everywhere."""
    model = make_model()
    with torch.no_grad():
        for parameter in (*model.policy_head.parameters(), *model.value_head.parameters()):
            parameter.zero_()
        model.value_head.linear.bias.fill_(value)
    return model


def test_stale_data_is_corrected_to_the_expectation_under_the_new_policy():
    """Mean over the new policy: (1 - 2 + 4) / 3 = 1; over the old one: 1/2 - 2/4 + 4/4 = 1, less 0.5 of value."""
    targets = make_targets(trainee_of(indifferent_model()), stale_rollout(), VTraceConfig(rho_clip=10.0, c_clip=10.0))
    rhos = torch.tensor([2 / 3, 4 / 3, 4 / 3])
    torch.testing.assert_close(targets.log_rhos.exp()[0, [0, 4, 6]], rhos)
    torch.testing.assert_close(targets.advantages[0, [0, 4, 6]], rhos * torch.tensor([0.5, -2.5, 3.5]))
    # The weighted gradient of the policy is that of an exact expectation under the new policy.
    taken = torch.nn.functional.one_hot(stale_rollout().actions[0], 3).float()
    estimate = (targets.advantages[0, :, None] * (taken - 1 / 3)).mean(0)
    exact = torch.stack(
        [(torch.eye(3)[action] - 1 / 3) * (reward - 0.5) / 3 for action, reward in enumerate((1.0, -2.0, 4.0))]
    ).sum(0)
    torch.testing.assert_close(estimate, exact)


def test_the_rho_clip_bounds_the_correction():
    targets = make_targets(trainee_of(indifferent_model()), stale_rollout(), VTraceConfig(rho_clip=1.0))
    clipped = torch.tensor([2 / 3, 1.0, 1.0])
    torch.testing.assert_close(targets.advantages[0, [0, 4, 6]], clipped * torch.tensor([0.5, -2.5, 3.5]))
    torch.testing.assert_close(targets.targets[0, [0, 4, 6]], 0.5 + clipped * torch.tensor([0.5, -2.5, 3.5]))


def test_the_c_clip_bounds_what_flows_back():
    model = make_model("gru", seed=1)
    rollout = random_rollout(make_model("gru"), with_gaps=False)
    tight, loose = (
        make_targets(trainee_of(model), rollout, VTraceConfig(rho_clip=1.0, c_clip=clip)) for clip in (0.1, 1.0)
    )
    last = torch.zeros_like(rollout.valid)
    last[-1] = True
    ends = rollout.terminated | rollout.truncated | last
    torch.testing.assert_close(tight.targets[ends], loose.targets[ends])
    assert (tight.targets - loose.targets)[~ends].abs().max() > 0.05


def test_metrics_tell_of_lag_and_of_clipped_ratios():
    practice = practise(VTraceConfig())
    rollout = random_rollout(practice.model, with_gaps=False)
    fresh = practice.learn(rollout)
    assert fresh["weights/lag"] == 0.0
    assert fresh["policy/rho_mean"] == pytest.approx(1.0, abs=1e-5)
    assert fresh["policy/rho_clipped_fraction"] == 0.0
    assert fresh["policy/kl"] == pytest.approx(0.0, abs=1e-6)
    scarce = replace(rollout, behaviour_log_probs=rollout.behaviour_log_probs - 1.0)
    stale = practise(VTraceConfig()).learn(scarce)
    assert stale["policy/rho_mean"] == pytest.approx(2.71828, rel=1e-4)
    assert stale["policy/rho_clipped_fraction"] == 1.0
    assert practice.learn(rollout)["weights/lag"] == 1.0


def test_one_rollout_makes_one_step():
    practice = practise(VTraceConfig(), accumulation=3)
    practice.learn(random_rollout(practice.model))
    assert practice.num_steps == 1


def test_what_stands_for_an_action_where_nobody_decided_cuts_no_trace():
    """An absence inside an episode: rewards before it still count on what comes after it."""
    model = make_model()
    rollout = random_rollout(model, num_rows=3, with_gaps=False)
    never = torch.zeros_like(rollout.terminated)
    valid = ~never
    valid[1] = False
    gap = replace(
        rollout,
        terminated=never,
        truncated=never,
        cuts=torch.zeros(0, 2, dtype=torch.int64),
        cut_observations=torch.zeros(0, 3),
        valid=valid,
    )
    garbled_log_probs = rollout.behaviour_log_probs.clone()
    garbled_log_probs[1] += 5.0
    garbled_actions = rollout.actions.clone()
    garbled_actions[1] = (garbled_actions[1] + 1) % 3
    garbled = replace(gap, actions=garbled_actions, behaviour_log_probs=garbled_log_probs)
    first, second = (make_targets(trainee_of(model), each, VTraceConfig()) for each in (gap, garbled))
    assert torch.equal(first.targets[valid], second.targets[valid])
    assert torch.equal(first.advantages[valid], second.advantages[valid])


@pytest.mark.parametrize(
    "settings", [{"rho_clip": 0.0}, {"c_clip": -1.0}, {"discount": -0.1}, {"trace_decay": 2.0}, {"value_cost": -1.0}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=f"learner.{next(iter(settings)).replace('_', '-')}"):
        VTraceConfig(**settings)
