import pytest

from respawn.evaluation.intervals import mean_interval, wilson_interval, without_false_ends


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998, table I, method 3 (score without continuity correction)
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
        (90, 100, 0.8256, 0.9448),
    ],
)
def test_wilson_agrees_with_published_values(successes, trials, low, high):
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilson_at_the_ends():
    assert wilson_interval(0, 100)[0] == 0.0 and wilson_interval(100, 100)[1] == 1.0
    assert wilson_interval(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="got 3"):
        wilson_interval(3, 2)


def test_the_interval_of_a_mean():
    low, high = mean_interval([1.0, 2.0, 3.0, 4.0])
    assert (low, high) == pytest.approx((2.5 - 1.265, 2.5 + 1.265), abs=1e-3)  # 1.96 · 1.291 / 2
    assert mean_interval([7.0]) is mean_interval([]) is None


@pytest.mark.parametrize("measure", ["return", "survival"])
def test_of_one_episode_the_ends_of_an_interval_are_not_known(measure):
    numbers = {f"{measure}_mean": 2.0, f"{measure}_low": 2.0, f"{measure}_high": 2.0}
    assert without_false_ends(numbers | {"episodes": 2.0}) == numbers | {"episodes": 2.0}
    ends = {f"{measure}_low": None, f"{measure}_high": None}
    assert without_false_ends(numbers | {"episodes": 1.0}) == numbers | ends | {"episodes": 1.0}
