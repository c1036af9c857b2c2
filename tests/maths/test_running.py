import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from respawn.maths.running import FadingMean, RunningMoments, Window


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(0, 1000))
def test_moments_of_batches_are_those_of_everything(sizes: list[int], seed: int):
    g = torch.Generator().manual_seed(seed)
    batches = [100.0 + torch.randn(size, 3, generator=g) for size in sizes]
    moments = RunningMoments((3,))
    for batch in batches:
        moments.update(batch)
    everything = torch.cat(batches).double()
    assert moments.count == len(everything)
    if len(everything) > 0:
        torch.testing.assert_close(moments.mean, everything.mean(0))
        torch.testing.assert_close(moments.variance, everything.var(0, correction=0))


def test_moments_before_anything_was_seen_scale_nothing():
    moments = RunningMoments((2,))
    assert moments.mean.tolist() == [0.0, 0.0]
    assert moments.variance.tolist() == [1.0, 1.0]


def test_moments_go_on_from_a_state():
    straight, first = RunningMoments(), RunningMoments()
    batches = [torch.arange(5.0), torch.tensor([9.0]), torch.arange(3.0)]
    for batch in batches:
        straight.update(batch)
    first.update(batches[0])
    state = first.state()
    first.update(torch.tensor([1e6]))  # must not reach into the state already handed out
    resumed = RunningMoments()
    resumed.restore(state)
    for batch in batches[1:]:
        resumed.update(batch)
    assert resumed.count == straight.count
    assert torch.equal(resumed.mean, straight.mean)
    assert torch.equal(resumed.variance, straight.variance)


def test_a_fading_mean_by_hand():
    mean = FadingMean(0.5)
    assert math.isnan(mean.value)
    assert mean.update(4.0) == pytest.approx(4.0)
    assert mean.update(1.0) == pytest.approx((0.5 * 4.0 + 1.0) / 1.5)
    other = FadingMean(0.5)
    other.restore(mean.state())
    assert other.update(3.0) == mean.update(3.0)


def test_a_window_forgets_and_answers_percentiles():
    window = Window(4)
    assert math.isnan(window.mean())
    assert math.isnan(window.percentile(50))
    window.extend([100, 1, 2])
    assert not window.full
    window.extend([3, 4])
    assert window.full
    assert len(window) == 4
    assert window.mean() == 2.5
    assert window.percentile(50) == 2.5
    assert window.percentile(10) == pytest.approx(np.percentile([1, 2, 3, 4], 10))


def test_a_window_goes_on_from_a_state():
    window, other = Window(3), Window(3)
    window.extend([1, 2, 3])
    state = window.state()
    window.extend([50])
    other.restore(state)
    other.extend([4])
    assert other.state() == {"numbers": [2.0, 3.0, 4.0]}
