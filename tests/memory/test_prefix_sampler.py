"""Both samplers draw by the exact distribution, and draw the same."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from masses import chi_square_deviations, kl, spreads

from respawn.memory.prefix_sampler import PrefixSampler
from respawn.memory.priorities import stratified_targets
from respawn.memory.sum_tree import SumTree

CPU = torch.device("cpu")
STRATA = 256
SIZE, DRAWS = 2_000, 400_000
DEVICES = [CPU, pytest.param(torch.device("cuda"), marks=pytest.mark.gpu)]


def prefix(masses, device=CPU):
    sampler = PrefixSampler(len(masses), device)
    sampler.assign(torch.arange(len(masses), device=device), torch.from_numpy(masses).to(device))
    return sampler


def tree(masses):
    sampler = SumTree(len(masses))
    sampler.assign(np.arange(len(masses)), masses)
    return sampler


def found(kind, masses, targets):
    if kind == "tree":
        return tree(masses).find(targets)
    return prefix(masses).find(torch.from_numpy(targets)).numpy()


@pytest.mark.parametrize("kind", ["tree", "prefix"])
@pytest.mark.parametrize("spread", spreads(SIZE))
def test_independent_draws_are_of_the_exact_distribution(kind, spread):
    masses = spreads(SIZE)[spread]
    targets = np.random.default_rng(11).integers(0, masses.sum(), DRAWS)
    counts = np.bincount(found(kind, masses, targets), minlength=SIZE)
    # With n draws of k entries, 2·n·KL is about chi-square with k - 1 degrees: k / 2n on average, hardly more.
    assert kl(counts, masses) < 1.2 * np.count_nonzero(masses) / (2 * DRAWS) + 1e-12
    assert chi_square_deviations(counts, masses) < 4.0


@pytest.mark.parametrize("kind", ["tree", "prefix"])
@pytest.mark.parametrize("spread", [name for name, masses in spreads(SIZE).items() if masses.sum() >= STRATA])
def test_stratified_draws_are_closer_still(kind, spread):
    masses = spreads(SIZE)[spread]
    uniforms = torch.rand((DRAWS // STRATA, STRATA), dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    total = torch.tensor(int(masses.sum()))
    targets = torch.cat([stratified_targets(each, total) for each in uniforms]).numpy()
    counts = np.bincount(found(kind, masses, targets), minlength=SIZE)
    assert kl(counts, masses) < 1.2 * np.count_nonzero(masses) / (2 * len(targets)) + 1e-12
    assert chi_square_deviations(counts, masses) < 2.0


def test_the_checks_notice_a_wrong_distribution():
    masses = spreads(SIZE)["mixed"]
    tilted = masses + masses.mean().astype(np.int64) // 5
    targets = np.random.default_rng(11).integers(0, tilted.sum(), DRAWS)
    counts = np.bincount(found("tree", tilted, targets), minlength=SIZE)
    assert chi_square_deviations(counts, masses) > 10
    assert kl(counts, masses) > 1.2 * SIZE / (2 * DRAWS)
    masses[:10] = 0
    assert kl(counts, masses) == np.inf


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("spread", spreads(70_000))
def test_both_find_the_same(device, spread):
    masses = spreads(70_000)[spread]
    uniforms = torch.rand(4_096, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    uniforms[:3] = torch.tensor([0.0, 1.0 - 2.0**-53, 0.5])
    total = torch.tensor(int(masses.sum()))
    uniforms = uniforms[: int(total)]
    here = stratified_targets(uniforms, total)
    there = stratified_targets(uniforms.to(device), prefix(masses, device).total)
    assert torch.equal(here, there.cpu())
    assert np.array_equal(tree(masses).find(here.numpy()), prefix(masses, device).find(there).cpu().numpy())


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 2**62), st.integers(1, 64), st.floats(0, 1, exclude_max=True))
def test_each_stratum_has_one_place_of_its_own(total, count, uniform):
    count = min(count, total)
    uniforms = torch.full((count,), uniform, dtype=torch.float64)
    targets = stratified_targets(uniforms, torch.tensor(total)).tolist()
    for number, target in enumerate(targets):
        assert total * number // count <= target < total * (number + 1) // count


def test_masses_can_be_asked_and_changed():
    sampler = prefix(np.array([1, 0, 5]))
    assert int(sampler.total) == 6
    sampler.assign(torch.tensor([2, 1]), torch.tensor([0, 4]))
    assert int(sampler.total) == 5
    assert sampler.masses(torch.tensor([0, 1, 2])).tolist() == [1, 4, 0]
    assert sampler.find(torch.arange(5)).tolist() == [0, 1, 1, 1, 1]
