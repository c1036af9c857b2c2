import pytest

from respawn.evaluation.pacing import Pace


class Time:
    """Passes when somebody waits, or when it is told to."""

    def __init__(self):
        self.now, self.waited = 100.0, []

    def wait(self, seconds):
        self.waited.append(seconds)
        self.now += seconds


@pytest.fixture
def time():
    return Time()


def pace(time, rate=50):
    return Pace(rate, now=lambda: time.now, wait=time.wait)


def test_frames_come_at_their_rate(time):
    paced = pace(time)
    assert all(paced.is_time() for _ in range(51))
    assert time.now == pytest.approx(101.0) and time.waited == pytest.approx([0.02] * 50)


def test_time_spent_on_a_frame_counts(time):
    paced = pace(time)
    for _ in range(51):
        assert paced.is_time()
        time.now += 0.015
    assert time.now == pytest.approx(101.015)


def test_late_frames_are_dropped_until_it_has_caught_up(time):
    paced = pace(time)
    paced.is_time()
    time.now += 0.109
    shown = [paced.is_time() for _ in range(8)]
    assert shown == [False] * 4 + [True] * 4
    assert time.now == pytest.approx(100.16)


def test_after_a_long_stop_it_does_not_race(time):
    paced = pace(time)
    paced.is_time()
    time.now += 60.0
    shown = [paced.is_time() for _ in range(10)]
    assert shown == [False] + [True] * 9 and time.now == pytest.approx(160.18)
