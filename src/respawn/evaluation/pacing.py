"""Showing frames at the speed they were meant for."""

from collections.abc import Callable
from time import perf_counter, sleep


class Pace:
    """Waits until each frame is due, and says which come too late to be worth showing."""

    def __init__(
        self,
        frames_per_second: float,
        *,
        now: Callable[[], float] = perf_counter,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._seconds = 1 / frames_per_second
        self._now, self._wait = now, wait
        self._due: float | None = None

    def is_time(self) -> bool:
        """Wait for the next frame's moment; False if it has passed already and the frame is to be dropped."""
        now = self._now()
        self._due = now if self._due is None else self._due + self._seconds
        if now > self._due + self._seconds:
            if now > self._due + 1.0:
                self._due = now  # somebody stopped us, or the machine stood still: go on from here, do not race
            return False
        if now < self._due:
            self._wait(self._due - now)
        return True
