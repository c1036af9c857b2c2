import threading
import time

import pytest

from respawn.observers.ticker import Ticker


class Ticks:
    """Counts, and can be waited for."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.threads: list[str] = []
        self.fails_at = fails_at
        self.changed = threading.Condition()

    def __call__(self) -> None:
        with self.changed:
            self.threads.append(threading.current_thread().name)
            self.changed.notify_all()
            if len(self.threads) == self.fails_at:
                raise OSError(28, "No space left on device")

    def wait_for(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.threads) >= count, timeout=30)


def ended(name: str) -> bool:
    deadline = time.monotonic() + 30
    while any(thread.name == name for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.001)
    return time.monotonic() < deadline


def test_ticks_in_a_thread_of_its_own_until_it_is_closed():
    ticks = Ticks()
    ticker = Ticker("ticks", 0.005, ticks)
    ticks.wait_for(3)
    ticker.close()
    count = len(ticks.threads)
    time.sleep(0.03)
    assert len(ticks.threads) == count and set(ticks.threads) == {"ticks"}
    assert ended("ticks")
    ticker.check()
    ticker.close()


def test_the_first_tick_comes_after_the_first_interval():
    ticks = Ticks()
    ticker = Ticker("ticks", 3600.0, ticks)
    ticker.close()
    assert ticks.threads == []


def test_an_error_ends_it_and_is_raised_once_where_somebody_asks():
    ticks = Ticks(fails_at=2)
    ticker = Ticker("failing", 0.005, ticks)
    ticks.wait_for(2)
    assert ended("failing")
    with pytest.raises(OSError, match="No space left"):
        ticker.check()
    ticker.check()
    ticker.close()
    assert len(ticks.threads) == 2


def test_one_that_is_stuck_is_left_behind():
    stuck, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        stuck.set()
        go_on.wait(30)

    ticker = Ticker("stuck", 0.001, hang)
    assert stuck.wait(30)
    ticker.close(patience_seconds=0.01)
    assert any(thread.name == "stuck" and thread.daemon for thread in threading.enumerate())
    go_on.set()
    assert ended("stuck")


def test_it_can_be_closed_from_within():
    closed = threading.Event()
    made = threading.Event()
    tickers: list[Ticker] = []

    def close_it() -> None:
        made.wait(30)
        tickers[0].close()
        closed.set()

    tickers.append(Ticker("closing", 0.001, close_it))
    made.set()
    assert closed.wait(30) and ended("closing")
