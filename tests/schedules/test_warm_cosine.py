import math

import pytest

from respawn.schedules.config import CurveConfig
from respawn.schedules.curves import curve_factor

WARM_COSINE = CurveConfig("warm_cosine")


@pytest.mark.parametrize(
    ("updates", "factor"),
    [
        (0, 1.0),
        (10, 0.75),
        (20, 0.5),
        (40, 0.25 * (1 + math.cos(math.pi / 4))),
        (60, 0.25),
        (100, 0.0),
        (120, 0.0),
    ],
)
def test_a_straight_fall_to_half_and_a_cosine_from_there(updates, factor):
    assert curve_factor(WARM_COSINE, updates, 100) == pytest.approx(factor)


def test_it_spreads_over_the_whole_run_and_the_last_update_still_learns():
    factors = [curve_factor(WARM_COSINE, updates, 60) for updates in range(60)]
    assert factors == sorted(factors, reverse=True)
    assert 0.0 < factors[-1] < 0.01


def test_it_keeps_a_final_fraction():
    assert curve_factor(CurveConfig("warm_cosine", final_fraction=0.1), 100, 100) == pytest.approx(0.1)
