import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from respawn.memory.priorities import (
    LARGEST_TOTAL,
    UNITS,
    importance_weights,
    stratified_targets,
    stratified_targets_on_host,
    to_masses,
)


def test_masses_are_powers_of_errors_in_whole_units():
    errors = torch.tensor([0.0, 0.24, 8.99])
    masses = to_masses(errors, alpha=0.5, epsilon=0.01, capacity=10)
    assert masses.dtype == torch.int64
    torch.testing.assert_close(masses / UNITS, torch.tensor([0.1, 0.5, 3.0]), rtol=1e-6, atol=0)


def test_alpha_0_prefers_nothing_and_1_goes_by_the_errors():
    errors = torch.tensor([1.0, 4.0])
    assert len(set(to_masses(errors, alpha=0.0, epsilon=0.1, capacity=10).tolist())) == 1
    first, second = to_masses(errors, alpha=1.0, epsilon=1e-9, capacity=10).tolist()
    assert second / first == pytest.approx(4.0, rel=1e-6)


def test_masses_are_never_nothing_and_never_too_much():
    masses = to_masses(torch.tensor([0.0, 1e30]), alpha=1.0, epsilon=1e-30, capacity=1_000_000)
    assert masses[0] == 1
    assert 1_000_000 * int(masses[1]) <= LARGEST_TOTAL
    assert masses[1] > 2**40


def test_weights_undo_the_choice_as_far_as_beta_says():
    masses, total = torch.tensor([1, 2, 4]), torch.tensor(8)
    assert importance_weights(masses, total, 5, 1.0).tolist() == [1.0, 0.5, 0.25]
    assert importance_weights(masses, total, 5, 0.0).tolist() == [1.0, 1.0, 1.0]
    torch.testing.assert_close(importance_weights(masses, total, 5, 0.5), torch.tensor([1.0, 0.5**0.5, 0.5]))


@given(count=st.integers(1, 300), total=st.integers(300, LARGEST_TOTAL), seed=st.integers(0, 1000))
def test_targets_are_the_same_in_numpy_and_in_torch(count, total, seed):
    uniforms = torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    found = stratified_targets_on_host(uniforms.numpy(), total)
    assert found.tolist() == stratified_targets(uniforms, torch.tensor(total)).tolist()
    assert found.min() >= 0 and found.max() < total


def test_errors_that_are_not_finite_count_as_none():
    bad = torch.tensor([0.0, float("nan"), float("inf"), 1.0])
    nothing, *same, one = to_masses(bad, alpha=0.5, epsilon=0.01, capacity=10).tolist()
    assert same == [nothing, nothing] and 0 < nothing < one
