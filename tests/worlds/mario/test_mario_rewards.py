import numpy as np
import pytest

from respawn.contracts.knobs import Knobs
from respawn.worlds.mario.config import REWARDS, RewardConfig
from respawn.worlds.mario.rewards import ITEMS, Counted, Worth, knob_name, knob_specs, worth_from, worth_of


def counted(**counts):
    integers = {item: np.array([counts.get(item, 0)] * 2, np.int32) for item in ITEMS}
    return Counted(**integers)


WORTH = Worth(distance=0.5, score=0.25, time=-2.0, flag=10.0, death=-7.0, milestone=3.0, scale=0.1)


@pytest.mark.parametrize(
    ("counts", "reward"),
    [
        ({}, 0.0),
        ({"distance": 8}, 0.4),
        ({"distance": -8}, -0.4),
        ({"score": 200}, 5.0),
        ({"time": 1}, -0.2),
        ({"milestone": 2}, 0.6),
        ({"flag": 1}, 10.0),
        ({"death": 1}, -7.0),
        ({"distance": 8, "score": 200, "flag": 1}, 15.4),
    ],
)
def test_items_add_up_and_ends_are_not_scaled(counts, reward):
    assert WORTH.rewards(counted(**counts)) == pytest.approx([reward, reward])


def test_what_was_paid_adds_up_to_the_rewards():
    given = counted(distance=8, score=200, flag=1, death=1)
    sums = WORTH.sums(given)
    assert set(sums) == {f"paid_{item}" for item in ITEMS}
    assert sum(sums.values()) == pytest.approx(WORTH.rewards(given).sum())
    assert sums["paid_distance"] == pytest.approx(0.8) and sums["paid_flag"] == 20.0
    unpaid = Worth(distance=0.5, score=0.0, time=0.0, flag=0.0, death=0.0, milestone=0.0, scale=1.0)
    assert set(unpaid.sums(given)) == {"paid_distance"}


def test_the_seeds_formula():
    rewards = worth_of(REWARDS["seed"]).rewards(counted(score=100, distance=40))
    assert rewards == pytest.approx([0.2 * (100 + 40 / 80)] * 2)


def test_there_is_a_knob_for_each():
    config = RewardConfig(flag=9.0)
    specs = knob_specs(config)
    assert [spec.name for spec in specs] == [knob_name(item) for item in (*ITEMS, "scale")]
    assert worth_from(Knobs(0, {spec.name: spec.default for spec in specs})) == worth_of(config)
    for item in (*ITEMS, "scale"):
        values = {spec.name: 0.0 for spec in specs} | {knob_name(item): 4.0}
        assert getattr(worth_from(Knobs(1, values)), item) == 4.0
