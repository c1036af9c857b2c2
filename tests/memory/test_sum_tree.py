"""The tree finds what a plain running sum finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from respawn.memory import sum_tree
from respawn.memory.sum_tree import SumTree

masses_lists = st.lists(st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**40)), min_size=1, max_size=400)


@pytest.fixture(params=[4096, 16], ids=["one row", "several rows"])
def top(request, monkeypatch):
    """A short top row lets small trees have several levels."""
    monkeypatch.setattr(sum_tree, "WIDEST_TOP", request.param)


def filled(masses):
    tree = SumTree(len(masses))
    tree.assign(np.arange(len(masses)), np.array(masses, dtype=np.int64))
    return tree


@pytest.mark.parametrize("widest", [4096, 16])
@settings(max_examples=60, deadline=None)
@given(masses=masses_lists, data=st.data())
def test_found_as_in_a_running_sum(widest, masses, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sum_tree, "WIDEST_TOP", widest)
        tree = filled(masses)
    total = sum(masses)
    assert tree.total == total
    if total == 0:
        return
    picks = data.draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=20))
    targets = np.array([0, total - 1, *picks])
    found = tree.find(targets)
    assert found.tolist() == np.searchsorted(np.cumsum(masses), targets, side="right").tolist()
    assert (np.array(masses)[found] > 0).all()


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 300), data=st.data())
def test_masses_set_in_many_goes_are_those_set_last(size, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sum_tree, "WIDEST_TOP", 16)
        tree = SumTree(size)
    plain = np.zeros(size, dtype=np.int64)
    for _ in range(data.draw(st.integers(1, 5))):
        slots = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=40, unique=True)))
        masses = np.array(data.draw(st.lists(st.integers(0, 50), min_size=len(slots), max_size=len(slots))))
        tree.assign(slots, masses)
        plain[slots] = masses
        assert tree.total == plain.sum()
        assert tree.find(np.arange(plain.sum())).tolist() == np.repeat(np.arange(size), plain).tolist()
    assert tree.masses(np.arange(size)).tolist() == plain.tolist()


def test_every_place_once_draws_each_entry_as_often_as_its_mass(top):
    masses = np.random.default_rng(0).integers(0, 40, 3_000)
    assert (np.bincount(filled(masses).find(np.arange(masses.sum())), minlength=3_000) == masses).all()


def test_sums_that_no_float_could_hold_stay_exact(top):
    masses = np.full(1_000, 2**51, dtype=np.int64)
    masses[1::2] = 1
    tree = filled(masses)
    ends = np.cumsum(masses)
    assert tree.total == 500 * 2**51 + 500
    assert tree.find(ends - 1).tolist() == list(range(1_000))
