import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Trace, traces

from respawn.maths.gae import gae


def plain_advantages(trace: Trace, discount: float, trace_decay: float) -> list[list[float]]:
    num_rows, num_lanes = trace.rewards.shape
    advantages = [[0.0] * num_lanes for _ in range(num_rows)]
    for lane in range(num_lanes):
        for start in range(num_rows):
            weight, total = 1.0, 0.0
            for t in range(start, num_rows):
                delta = trace.rewards[t, lane] + discount * trace.after[t, lane] - trace.values[t, lane]
                total += weight * float(delta)
                weight *= discount * trace_decay
                if trace.ended[t, lane]:
                    break
            advantages[start][lane] = total
    return advantages


@settings(max_examples=40, deadline=None, derandomize=True)
@given(traces(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_gae_equals_a_plain_loop(trace: Trace, discount: float, trace_decay: float):
    result = gae(trace.rewards, trace.values[:-1], trace.after, trace.ended, discount=discount, trace_decay=trace_decay)
    expected = torch.tensor(plain_advantages(trace, discount, trace_decay))
    torch.testing.assert_close(result.advantages, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(result.targets, expected + trace.values[:-1], atol=1e-5, rtol=1e-5)


def test_a_result_carries_no_gradient_and_is_float32():
    values = torch.ones(3, 2, requires_grad=True)
    ended = torch.zeros(3, 2, dtype=torch.bool)
    result = gae(torch.ones(3, 2), values, values, ended, discount=0.9, trace_decay=0.9)
    for tensor in result:
        assert not tensor.requires_grad
        assert tensor.dtype == torch.float32


@pytest.mark.parametrize(
    ("rewards", "ended"),
    [
        (torch.ones(3, 1), torch.zeros(3, 2, dtype=torch.bool)),
        (torch.ones(3, 2), torch.zeros(3, 2)),
        (torch.ones(3, 2, dtype=torch.float64), torch.zeros(3, 2, dtype=torch.bool)),
    ],
)
def test_wrong_shapes_and_kinds_are_refused(rewards: torch.Tensor, ended: torch.Tensor):
    with pytest.raises(AssertionError, match="expected"):
        gae(rewards, torch.ones(3, 2), torch.ones(3, 2), ended, discount=0.9, trace_decay=0.9)
