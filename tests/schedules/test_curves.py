import math

import pytest

from respawn.contracts.clock import Clock
from respawn.errors import ConfigError
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curves import Curve, curve_factor

COSINE = CurveConfig(shape="cosine", warmup_fraction=0.1, final_fraction=0.1)


@pytest.mark.parametrize(
    ("updates", "factor"),
    [
        (0, 1 / 11),  # the first of ten updates of warm-up, and the eleventh is at the top
        (4, 5 / 11),
        (9, 10 / 11),
        (10, 1.0),
        (40, 0.1 + 0.9 * 0.75),  # a third of the way down: cos(60 degrees) = 1/2
        (55, 0.1 + 0.9 * 0.5),  # halfway down
        (70, 0.1 + 0.9 * 0.25),
        (100, 0.1),
        (150, 0.1),  # beyond the plan it stays there
    ],
)
def test_warm_up_and_cosine_by_hand(updates, factor):
    assert curve_factor(COSINE, updates, 100) == pytest.approx(factor)


@pytest.mark.parametrize(("updates", "factor"), [(0, 1.0), (25, 0.8), (50, 0.6), (100, 0.2), (101, 0.2)])
def test_linear_by_hand(updates, factor):
    assert curve_factor(CurveConfig("linear", final_fraction=0.2), updates, 100) == pytest.approx(factor)


def test_constant_stays_and_may_warm_up():
    assert {curve_factor(CurveConfig(), updates, 100) for updates in range(200)} == {1.0}
    warm = CurveConfig(warmup_fraction=0.5)
    assert [curve_factor(warm, updates, 4) for updates in range(5)] == pytest.approx([1 / 3, 2 / 3, 1, 1, 1])


@pytest.mark.parametrize("planned", [10, 100, 1000])
def test_warm_up_is_a_share_of_the_run(planned):
    factors = [curve_factor(COSINE, updates, planned) for updates in range(planned)]
    assert factors.index(max(factors)) == planned // 10
    assert factors[: planned // 10] == sorted(factors[: planned // 10])
    assert factors[planned // 10 :] == sorted(factors[planned // 10 :], reverse=True)
    assert max(factors) == 1.0
    assert min(factors) > 0.0


@pytest.mark.parametrize("planned", [1, 2, 3])
@pytest.mark.parametrize("shape", ["constant", "linear", "cosine"])
def test_the_shortest_runs_have_a_curve_too(shape, planned):
    config = CurveConfig(shape, warmup_fraction=0.3)
    factors = [curve_factor(config, updates, planned) for updates in range(planned + 2)]
    assert all(0.0 <= factor <= 1.0 and math.isfinite(factor) for factor in factors)
    assert factors[0] > 0.0


def test_a_curve_scales_its_setting_and_owns_its_knob():
    curve = Curve("learning_rate", 0.02, COSINE, 100)
    assert curve.owns == {"learning_rate"}
    assert curve.decide(Clock(updates=55)) == {"learning_rate": pytest.approx(0.02 * 0.55)}


def test_a_resumed_run_goes_on_along_the_same_curve():
    straight = [Curve("a", 1.0, COSINE, 50).decide(Clock(updates=updates)) for updates in range(50)]
    halfway = Curve("a", 1.0, COSINE, 50)
    resumed = Curve("a", 1.0, COSINE, 50)
    resumed.restore(halfway.state())
    clock = Clock()
    clock.restore(Clock(updates=20).state())
    went_on = []
    while clock.updates < 50:
        went_on.append(resumed.decide(clock))
        clock.updates += 1
    assert went_on == straight[20:]


def test_the_usual_learning_rate_warms_up_and_falls():
    config = SchedulesConfig().learning_rate
    assert (config.shape, config.warmup_fraction, config.final_fraction) == ("cosine", 0.02, 0.05)
    assert curve_factor(config, 0, 100) == pytest.approx(1 / 3)
    assert curve_factor(config, 2, 100) == 1.0
    assert curve_factor(config, 100, 100) == pytest.approx(0.05)


@pytest.mark.parametrize(
    "settings",
    [{"warmup_fraction": 1.0}, {"warmup_fraction": -0.1}, {"final_fraction": 150.0}, {"final_fraction": -1.0}],
)
def test_fractions_that_are_none_are_refused(settings):
    with pytest.raises(ConfigError, match=next(iter(settings)).replace("_", "-")):
        CurveConfig(**settings)


STEPS = CurveConfig("piecewise", points=((0.2, 2.0), (0.4, 1.0), (0.6, 1.0), (0.6, 0.5), (1.0, 0.0)))


@pytest.mark.parametrize(
    ("updates", "factor"),
    [(0, 2.0), (20, 2.0), (30, 1.5), (40, 1.0), (59, 1.0), (60, 0.5), (80, 0.25), (100, 0.0), (140, 0.0)],
)
def test_piecewise_by_hand(updates, factor):
    assert curve_factor(STEPS, updates, 100) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("shape", "halfway"), [("linear", 1.75), ("cosine", 1.75), ("constant", 0.5), ("warm_cosine", 0.5 + 2.5 * 0.6543)]
)
def test_where_it_begins(shape, halfway):
    config = CurveConfig(shape, initial_fraction=0.5, final_fraction=3.0)
    assert curve_factor(config, 0, 100) == pytest.approx(0.5)
    assert curve_factor(config, 50, 100) == pytest.approx(halfway, abs=1e-3)
    assert curve_factor(config, 100, 100) == pytest.approx(0.5 if shape == "constant" else 3.0)


def test_a_warm_up_rises_to_where_the_curve_begins():
    late = CurveConfig("linear", warmup_fraction=0.1, initial_fraction=0.4, final_fraction=1.0)
    assert [curve_factor(late, updates, 100) for updates in (0, 9, 10)] == pytest.approx([0.4 / 11, 4 / 11, 0.4])
    warm = CurveConfig("piecewise", warmup_fraction=0.1, points=((0.0, 2.0), (1.0, 2.0)))
    assert [curve_factor(warm, updates, 100) for updates in (0, 10)] == pytest.approx([2 / 11, 2.0])


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"shape": "piecewise"}, "its shape is piecewise and it has 0 of them"),
        ({"shape": "linear", "points": ((0.0, 1.0),)}, "its shape is linear and it has 1 of them"),
        ({"shape": "piecewise", "points": ((0.0, 1.0),), "span_fraction": 0.5}, "its span-fraction must be 1, not 0.5"),
        ({"shape": "piecewise", "points": ((1.5, 1.0),)}, r"one is \(1.5, 1\)"),
        ({"shape": "piecewise", "points": ((0.5, -1.0),)}, r"one is \(0.5, -1\)"),
        ({"shape": "piecewise", "points": ((0.5, 1.0), (0.2, 1.0))}, "must be in the order of their shares"),
        ({"shape": "piecewise", "points": ((0.5, 1.0),) * 3}, "two points of a curve at one share make a step"),
        ({"initial_fraction": -0.5}, "initial-fraction must be from 0"),
        (
            {"shape": "piecewise", "points": ((0.5, 1.0),), "initial_fraction": 0.5},
            "initial-fraction must be 1, not 0.5",
        ),
        ({"shape": "piecewise", "points": ((0.5, 1.0),), "final_fraction": 0.5}, "final-fraction must be 0, not 0.5"),
    ],
)
def test_points_that_are_no_line_are_refused(settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        CurveConfig(**settings)


@pytest.mark.parametrize("setting", [0.5, -0.5])
@pytest.mark.parametrize("config", [COSINE, STEPS, CurveConfig("linear", initial_fraction=0.5, final_fraction=3.0)])
def test_it_never_leaves_its_reach(config, setting):
    curve = Curve("a", setting, config, 100)
    values = [curve.decide(Clock(updates=updates))["a"] for updates in range(120)]
    lowest, highest = curve.reach
    assert lowest <= min(values) and max(values) <= highest
    assert curve.bends
