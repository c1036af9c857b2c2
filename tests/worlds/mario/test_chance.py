import numpy as np
import pytest

from respawn.worlds.mario.chance import STARTS, STICKS, WAITS, choose, mix, throw


def words(*numbers):
    return np.array(numbers, np.uint64)


def test_scrambling_is_splitmix64():
    # The first outputs of the generator with seed 0, which every implementation shares.
    assert mix(words(0)).tolist() == [0xE220A8397B1DCDAF]
    assert mix(words(0x9E3779B97F4A7C15)).tolist() == [0x6E789E6AA1B965F4]


def test_dice_are_fair_and_all_different():
    count = 20_000
    thrown = throw(words(*[7] * count), words(*[0] * count), np.arange(count, dtype=np.uint64), STICKS)
    assert ((thrown >= 0.0) & (thrown < 1.0)).all()
    assert np.histogram(thrown, bins=10, range=(0, 1))[0] / count == pytest.approx(0.1, abs=0.01)
    assert len(set(thrown.tolist())) == count
    assert abs(np.corrcoef(thrown[:-1], thrown[1:])[0, 1]) < 0.03


def test_seeds_episodes_and_streams_have_nothing_in_common():
    seeds = np.arange(200, dtype=np.uint64)
    zeros = np.zeros_like(seeds)
    drawn = [throw(seeds, zeros + np.uint64(episode), zeros, stream)
             for episode in range(3) for stream in (STARTS, WAITS, STICKS)]  # fmt: skip
    assert len(set(np.concatenate(drawn).tolist())) == 9 * 200


def test_choices_are_in_range():
    seeds = np.arange(500, dtype=np.uint64)
    chosen = choose(seeds, np.zeros_like(seeds), STARTS, 5)
    assert set(chosen.tolist()) == set(range(5))
    assert chosen.dtype == np.int32
    assert set(choose(seeds, np.zeros_like(seeds), STARTS, 1).tolist()) == {0}


def test_a_lanes_dice_do_not_depend_on_the_others():
    seeds = np.arange(50, dtype=np.uint64)
    together = throw(seeds, seeds, seeds, WAITS)
    alone = [throw(seeds[i : i + 1], seeds[i : i + 1], seeds[i : i + 1], WAITS)[0] for i in range(50)]
    assert together.tolist() == alone
