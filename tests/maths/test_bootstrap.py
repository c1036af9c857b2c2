import pytest
import torch
from hypothesis import given, settings
from traces import Trace, traces

from respawn.maths.bootstrap import next_values


def test_next_values_by_hand():
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    terminated = torch.tensor([[True, False], [False, False]])
    cuts = torch.tensor([[1, 0]])
    after = next_values(values, terminated, cuts, torch.tensor([9.0]))
    assert after.tolist() == [[0.0, 4.0], [9.0, 6.0]]
    assert values.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "the argument must be left alone"


def test_no_gradient_flows():
    values = torch.ones(3, 1, requires_grad=True)
    after = next_values(
        values, torch.zeros(2, 1, dtype=torch.bool), torch.empty(0, 2, dtype=torch.int64), torch.empty(0)
    )
    assert not after.requires_grad


def test_wrong_shapes_are_refused():
    with pytest.raises(AssertionError, match="one row of values more"):
        next_values(
            torch.ones(2, 1), torch.zeros(2, 1, dtype=torch.bool), torch.empty(0, 2, dtype=torch.int64), torch.empty(0)
        )


@settings(max_examples=30, deadline=None, derandomize=True)
@given(traces())
def test_next_values_equal_a_plain_loop(trace: Trace):
    own = {(int(t), int(lane)): float(v) for (t, lane), v in zip(trace.cuts, trace.cut_values, strict=True)}
    for t in range(trace.rewards.shape[0]):
        for lane in range(trace.rewards.shape[1]):
            if trace.terminated[t, lane]:
                expected = 0.0
            elif trace.truncated[t, lane]:
                expected = own[t, lane]
            else:
                expected = float(trace.values[t + 1, lane])
            assert float(trace.after[t, lane]) == expected
