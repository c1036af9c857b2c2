import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.errors import ConfigError
from respawn.schedules.windows import ValueWindow, Windows
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
