import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Trace, random_trace, traces

from respawn.maths.gae import gae
from respawn.maths.vtrace import vtrace

DISCOUNT = 0.93
quick = settings(max_examples=40, deadline=None, derandomize=True)


def plain_targets(trace: Trace, rho_clip: float, c_clip: float, trace_decay: float) -> list[list[float]]:
    """Equation 1 as it is printed: a sum over the rows to come, weighted by a product of clipped ratios."""
    num_rows, num_lanes = trace.rewards.shape
    targets = [[0.0] * num_lanes for _ in range(num_rows)]
    for lane in range(num_lanes):
        for s in range(num_rows):
            weight, total = 1.0, float(trace.values[s, lane])
            for t in range(s, num_rows):
                ratio = math.exp(float(trace.log_rhos[t, lane]))
                delta = trace.rewards[t, lane] + DISCOUNT * trace.after[t, lane] - trace.values[t, lane]
                total += weight * min(rho_clip, ratio) * float(delta)
                weight *= DISCOUNT * trace_decay * min(c_clip, ratio)
                if trace.ended[t, lane]:
                    break
            targets[s][lane] = total
    return targets


def plain_advantages(trace: Trace, targets: list[list[float]], pg_rho_clip: float) -> list[list[float]]:
    num_rows, num_lanes = trace.rewards.shape
    advantages = [[0.0] * num_lanes for _ in range(num_rows)]
    for t in range(num_rows):
        for lane in range(num_lanes):
            inside = t + 1 < num_rows and not trace.ended[t, lane]
            following = targets[t + 1][lane] if inside else float(trace.after[t, lane])
            ratio = min(pg_rho_clip, math.exp(float(trace.log_rhos[t, lane])))
            error = float(trace.rewards[t, lane]) + DISCOUNT * following - float(trace.values[t, lane])
            advantages[t][lane] = ratio * error
    return advantages


@quick
@given(traces(), st.floats(0.5, 2.0), st.floats(0.5, 2.0), st.floats(0.5, 2.0), st.floats(0.0, 1.0))
def test_vtrace_equals_a_plain_loop(
    trace: Trace, rho_clip: float, c_clip: float, pg_rho_clip: float, trace_decay: float
):
    result = vtrace(
        trace.log_rhos,
        trace.rewards,
        trace.values[:-1],
        trace.after,
        trace.ended,
        discount=DISCOUNT,
        rho_clip=rho_clip,
        c_clip=c_clip,
        pg_rho_clip=pg_rho_clip,
        trace_decay=trace_decay,
    )
    targets = plain_targets(trace, rho_clip, c_clip, trace_decay)
    torch.testing.assert_close(result.targets, torch.tensor(targets), atol=1e-4, rtol=1e-4)
    advantages = torch.tensor(plain_advantages(trace, targets, pg_rho_clip))
    torch.testing.assert_close(result.advantages, advantages, atol=1e-4, rtol=1e-4)


@quick
@given(traces())
def test_on_policy_targets_are_discounted_returns(trace: Trace):
    result = vtrace(
        torch.zeros_like(trace.rewards),
        trace.rewards,
        trace.values[:-1],
        trace.after,
        trace.ended,
        discount=DISCOUNT,
    )
    following = trace.after[-1]
    for t in reversed(range(trace.rewards.shape[0])):
        following = torch.where(trace.ended[t], trace.after[t], following)
        following = trace.rewards[t] + DISCOUNT * following
        torch.testing.assert_close(result.targets[t], following, atol=1e-5, rtol=1e-5)


@quick
@given(traces(), st.floats(0.0, 1.0))
def test_on_policy_targets_are_those_of_gae(trace: Trace, trace_decay: float):
    on_policy = vtrace(
        torch.zeros_like(trace.rewards),
        trace.rewards,
        trace.values[:-1],
        trace.after,
        trace.ended,
        discount=DISCOUNT,
        trace_decay=trace_decay,
    )
    general = gae(
        trace.rewards, trace.values[:-1], trace.after, trace.ended, discount=DISCOUNT, trace_decay=trace_decay
    )
    torch.testing.assert_close(on_policy.targets, general.targets, atol=1e-5, rtol=1e-5)


def test_a_trace_split_in_two_gives_the_same_targets():
    """With equal clips, a part may stand for the rest of the trace by the first target of the rest."""
    trace = random_trace(seed=5, num_rows=12, num_lanes=6)
    whole = vtrace(trace.log_rhos, trace.rewards, trace.values[:-1], trace.after, trace.ended, discount=DISCOUNT)
    for split in range(1, 12):
        rest = slice(split, None)
        later = vtrace(
            trace.log_rhos[rest],
            trace.rewards[rest],
            trace.values[:-1][rest],
            trace.after[rest],
            trace.ended[rest],
            discount=DISCOUNT,
        )
        after = trace.after[:split].clone()
        after[-1] = torch.where(trace.ended[split - 1], after[-1], later.targets[0])
        earlier = vtrace(
            trace.log_rhos[:split],
            trace.rewards[:split],
            trace.values[:split],
            after,
            trace.ended[:split],
            discount=DISCOUNT,
        )
        torch.testing.assert_close(torch.cat([earlier.targets, later.targets]), whole.targets)
        torch.testing.assert_close(torch.cat([earlier.advantages, later.advantages]), whole.advantages)


def test_nothing_flows_back_over_the_end_of_an_episode():
    trace = random_trace(seed=1, num_rows=4, num_lanes=1)
    ended = torch.tensor([[False], [True], [False], [False]])

    def first_rows(rewards: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result = vtrace(trace.log_rhos, rewards, trace.values[:-1], trace.after, ended, discount=DISCOUNT)
        return result.targets[:2], result.advantages[:2]

    richer = trace.rewards + torch.tensor([[0.0], [0.0], [5.0], [5.0]])
    torch.testing.assert_close(first_rows(richer), first_rows(trace.rewards), atol=0, rtol=0)


def test_a_result_carries_no_gradient():
    values = torch.ones(3, 2, requires_grad=True)
    ended = torch.zeros(3, 2, dtype=torch.bool)
    result = vtrace(values, torch.ones(3, 2), values, values, ended, discount=0.9)
    assert not result.targets.requires_grad
    assert not result.advantages.requires_grad
