import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.errors import ConfigError
from respawn.schedules.config import CurveConfig
from respawn.schedules.curves import Curve
from respawn.schedules.windows import KnobWindow, ValueWindow, Windows
from respawn.testing.suites.schedule import check_schedule


def values(*windows, count=6):
    schedule = Windows("entropy_cost", 0.5, windows)
    return [schedule.decide(Clock(updates=updates))["entropy_cost"] for updates in range(count)]


def test_a_window_holds_from_its_first_to_its_last_update():
    assert values(ValueWindow(2, 3, 0.1)) == [0.5, 0.1, 0.1, 0.5, 0.5, 0.5]
    assert values(ValueWindow(4, 4, 0.1)) == [0.5, 0.5, 0.5, 0.1, 0.5, 0.5]
    assert values(ValueWindow(4, None, 0.1)) == [0.5, 0.5, 0.5, 0.1, 0.1, 0.1]


def test_later_windows_win():
    assert values(ValueWindow(2, None, 0.1), ValueWindow(3, 4, 0.2)) == [0.5, 0.1, 0.2, 0.2, 0.1, 0.1]
    assert values(ValueWindow(3, 4, 0.2), ValueWindow(2, None, 0.1)) == [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]


def test_it_is_a_schedule():
    knob = KnobSpec("entropy_cost", 0.5, 0.0, 1.0)
    check_schedule(lambda: Windows("entropy_cost", 0.5, [ValueWindow(10, 30, 0.25)]), [knob])


@pytest.mark.parametrize(
    ("window", "complaint"),
    [
        ((0, 3, 0.1), "a window's first must be at least 1, not 0"),
        ((3, 2, 0.1), r"a window's last \(2\) must not come before its first \(3\); swap"),
        ((1, 2, -0.1), "a window's value must be at least 0"),
        ((1, 2, float("nan")), "a window's value must be at least 0 and finite"),
    ],
)
def test_windows_that_hold_nothing_are_refused(window, complaint):
    with pytest.raises(ConfigError, match=complaint):
        ValueWindow(*window)


def test_windows_of_any_knob_lie_over_its_curve():
    curve = Curve("reward_distance", 1.0, CurveConfig("linear"), 4)
    early = [
        KnobWindow("reward_distance", first=1, last=2, value=3.0),
        KnobWindow("reward_distance", first=4, value=0.1),
    ]
    schedule = Windows("reward_distance", 1.0, early, curve)
    found = [schedule.decide(Clock(updates=updates))["reward_distance"] for updates in range(5)]
    assert found == [3.0, 3.0, 0.5, 0.1, 0.1]
    assert schedule.reach == (0.0, 3.0)


@pytest.mark.parametrize(
    ("window", "complaint"),
    [
        ({"first": 0, "value": 1.0}, "the window of a: its first must be at least 1, not 0"),
        (
            {"first": 3, "last": 2, "value": 1.0},
            r"the window of a: its last \(2\) must not come before its first \(3\)",
        ),
        ({"first": 1, "value": float("nan")}, "the window of a: its value must be finite, not nan"),
    ],
)
def test_windows_of_any_knob_that_hold_nothing_are_refused(window, complaint):
    with pytest.raises(ConfigError, match=complaint):
        KnobWindow("a", **window)
