import math

import pytest
import torch

from respawn.maths.diagnostics import approximate_kl, clipped_fraction, explained_variance, valid_mean

ALL = torch.tensor([True, True, True])


def test_valid_mean():
    assert valid_mean(torch.tensor([1.0, 5.0, 3.0]), torch.tensor([True, False, True])).item() == 2.0
    assert valid_mean(torch.ones(3), ~ALL).item() == 0.0


def test_explained_variance_of_perfect_constant_and_contrary_values():
    targets = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(targets + 7.0, targets, ALL).item() == pytest.approx(1.0)
    assert explained_variance(torch.zeros(3), targets, ALL).item() == pytest.approx(0.0)
    assert explained_variance(-targets, targets, ALL).item() == pytest.approx(-3.0)
    assert explained_variance(targets, torch.ones(3), ALL).item() == 0.0


def test_explained_variance_looks_at_valid_rows_only():
    values, targets = torch.tensor([1.0, 2.0, 99.0]), torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(values, targets, torch.tensor([True, True, False])).item() == pytest.approx(1.0)


def test_approximate_kl_by_hand():
    log_probs, old = torch.tensor([math.log(0.5), 0.0, 0.0]), torch.tensor([math.log(0.25), 0.0, 0.0])
    assert approximate_kl(log_probs, old, ALL).item() == pytest.approx((2.0 - 1.0 - math.log(2.0)) / 3)


def test_clipped_fraction_counts_both_sides():
    log_probs = torch.tensor([1.3, 0.7, 1.05]).log()
    assert clipped_fraction(log_probs, torch.zeros(3), ALL, clip=0.2).item() == pytest.approx(2 / 3)
