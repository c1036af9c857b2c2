"""Ends of episodes, as each learner sees them, against a slow computation that shares no code with them.

After a time-out the future is worth what the learner's own critic says of the observation that was cut off; after a
termination it is worth nothing; and what comes in the next row is another episode's.
"""

from dataclasses import dataclass, replace

import pytest
import torch
from practice import CORES, make_model, practise, random_rollout, wiped

from respawn.learners.config import OptimizerConfig
from respawn.learners.optimizer import Optimizer
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.targets import make_targets
from respawn.maths.seeding import make_generator

DISCOUNT, TRACE_DECAY = 0.9, 0.8


@dataclass
class Step:
    value: float
    log_prob: float
    reward: float
    behaviour_log_prob: float
    ended: bool
    next_value: float


def rollout_with_all_ends(core):
    """Lane 0 is cut at row 1 and at the last row, lane 1 terminates at row 2, lane 2 goes on; all with a past."""
    rollout = random_rollout(make_model(core, seed=1), num_rows=5, num_lanes=3, with_gaps=False)
    terminated = torch.zeros(5, 3, dtype=torch.bool)
    truncated = terminated.clone()
    terminated[2, 1] = True
    truncated[[1, 4], 0] = True
    return replace(
        rollout,
        terminated=terminated,
        truncated=truncated,
        cuts=torch.tensor([[1, 0], [4, 0]]),
        cut_observations=torch.tensor([[2.0, -1.0, 0.5], [-2.0, 1.0, 3.0]]),
        behaviour_log_probs=rollout.behaviour_log_probs + torch.linspace(-0.7, 0.7, 15).reshape(5, 3),
    )


def lived_through(model, rollout):
    """Each lane's steps, found by acting row by row; a cut observation is valued with the memory after its row."""
    cut_at = {tuple(place): seen for place, seen in zip(rollout.cuts.tolist(), rollout.cut_observations, strict=True)}
    lanes = []
    for lane in range(rollout.rewards.shape[1]):
        memory = {name: part[lane : lane + 1] for name, part in rollout.memory.items()}
        steps = []
        for t in range(rollout.rewards.shape[0]):
            observation = rollout.observations[t, lane][None]
            starts, no_cuts = torch.zeros(1, 1, dtype=torch.bool), torch.zeros(0, 2, dtype=torch.int64)
            parameters = model.unroll(observation[None], memory, starts, no_cuts, observation[:0]).parameters
            log_prob = parameters.log_softmax(-1)[0, 0, rollout.actions[t, lane]]
            decision = model.act(observation, memory, None)
            terminated = bool(rollout.terminated[t, lane])
            ended = terminated or bool(rollout.truncated[t, lane])
            after = decision.memory
            memory = wiped(after, torch.tensor([ended]))
            if terminated:
                next_value = 0.0
            elif (t, lane) in cut_at:
                next_value = float(model.act(cut_at[t, lane][None], after, None).values)
            else:
                next_value = float(model.act(rollout.observations[t + 1, lane][None], memory, None).values)
            steps.append(
                Step(
                    value=float(decision.values),
                    log_prob=float(log_prob.detach()),
                    reward=float(rollout.rewards[t, lane]),
                    behaviour_log_prob=float(rollout.behaviour_log_probs[t, lane]),
                    ended=ended,
                    next_value=next_value,
                )
            )
        lanes.append(steps)
    return lanes


def slow_gae(steps, t):
    """The advantage of row t: a sum of discounted errors up to the end of its episode."""
    total, weight = 0.0, 1.0
    for step in steps[t:]:
        total += weight * (step.reward + DISCOUNT * step.next_value - step.value)
        if step.ended:
            break
        weight *= DISCOUNT * TRACE_DECAY
    return total


def slow_vtrace_target(steps, t, rho_clip, c_clip):
    """v_t of the paper's equation 1, as it is written there."""
    total, weight = steps[t].value, 1.0
    for step in steps[t:]:
        ratio = float(torch.tensor(step.log_prob - step.behaviour_log_prob).exp())
        total += weight * min(ratio, rho_clip) * (step.reward + DISCOUNT * step.next_value - step.value)
        if step.ended:
            break
        weight *= DISCOUNT * TRACE_DECAY * min(ratio, c_clip)
    return total


def slow_vtrace_advantage(steps, t, rho_clip, c_clip):
    step = steps[t]
    is_last = t == len(steps) - 1
    after = step.next_value if step.ended or is_last else slow_vtrace_target(steps, t + 1, rho_clip, c_clip)
    ratio = float(torch.tensor(step.log_prob - step.behaviour_log_prob).exp())
    return min(ratio, rho_clip) * (step.reward + DISCOUNT * after - step.value)


@pytest.mark.parametrize("core", CORES)
def test_ppo(core):
    """With a single valid row and ratio 1, the policy's loss is minus that row's advantage; so ask row by row."""
    model = make_model(core)
    rollout = rollout_with_all_ends(core)
    lanes = lived_through(model, rollout)
    told = torch.tensor([[step.log_prob for step in steps] for steps in lanes]).T
    for t in range(5):
        for lane in range(3):
            valid = torch.zeros(5, 3, dtype=torch.bool)
            valid[t, lane] = True
            practice = practise(
                PPOConfig(discount=DISCOUNT, trace_decay=TRACE_DECAY, normalise_advantages=False, epochs=1),
                core,
            )
            metrics = practice.learn(replace(rollout, valid=valid, behaviour_log_probs=told.contiguous()))
            advantage = slow_gae(lanes[lane], t)
            assert metrics["loss/policy"] == pytest.approx(-advantage, abs=2e-5), (t, lane)
            assert metrics["loss/value"] == pytest.approx(0.5 * advantage**2, abs=1e-4), (t, lane)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("rho_clip", "c_clip"), [(1.0, 1.0), (2.0, 1.0), (1.0, 0.3), (50.0, 50.0)])
def test_vtrace(core, rho_clip, c_clip):
    """The rollout is another model's, so that ratios are on both sides of the clips."""
    model = make_model(core)
    rollout = rollout_with_all_ends(core)
    lanes = lived_through(model, rollout)
    trainee = Trainee(model, Optimizer(model, OptimizerConfig()), make_generator(0))
    config = VTraceConfig(discount=DISCOUNT, trace_decay=TRACE_DECAY, rho_clip=rho_clip, c_clip=c_clip)
    made = make_targets(trainee, rollout, config)
    assert made.log_rhos.max() > 0.2
    assert made.log_rhos.min() < -0.2
    for t in range(5):
        for lane, steps in enumerate(lanes):
            expected = slow_vtrace_target(steps, t, rho_clip, c_clip)
            assert float(made.targets[t, lane]) == pytest.approx(expected, abs=5e-5), (t, lane)
            expected = slow_vtrace_advantage(steps, t, rho_clip, c_clip)
            assert float(made.advantages[t, lane]) == pytest.approx(expected, abs=5e-5), (t, lane)


@pytest.mark.parametrize("core", ["none", "gru"])
def test_the_kind_of_end_matters(core):
    """What follows a cut moves its targets only through the cut observation; what follows a termination, not at all."""
    model = make_model(core)
    rollout = rollout_with_all_ends(core)
    trainee = Trainee(model, Optimizer(model, OptimizerConfig()), make_generator(0))

    def targets(**changes):
        return make_targets(trainee, replace(rollout, **changes), VTraceConfig()).targets

    plain = targets()
    moved_on = rollout.observations.clone()
    moved_on[2, 0] += 1.0  # the row after lane 0's cut
    moved_on[3, 1] += 1.0  # the row after lane 1's termination
    elsewhere = targets(observations=moved_on)
    assert torch.equal(elsewhere[:2, 0], plain[:2, 0])
    assert torch.equal(elsewhere[:3, 1], plain[:3, 1])
    cut = targets(cut_observations=rollout.cut_observations + 1.0)
    changed = (cut != plain).any(0)
    assert changed.tolist() == [True, False, False]
    assert not torch.equal(cut[:2, 0], plain[:2, 0])
