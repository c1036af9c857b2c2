"""For how long a run has stood still while its process could have moved.

A process that is stopped and goes on later (Ctrl-Z, a frozen container) has not moved for as long, and nothing is wrong
with it. So time counts only as far as whoever watches was able to look: between two looks that are far apart, nobody
was.
"""

import time
from collections.abc import Callable


class Stillness:
    """Asked at even intervals; adds up the intervals in which nothing moved."""

    def __init__(self, look_seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        """Begin to count.

        Args:
          look_seconds: the interval; of a longer one only twice as much counts.
          now: the clock.
        """
        self._most_seconds = 2 * look_seconds
        self._now = now
        self._looked = now()
        self._moved: float | None = None
        self._seconds = 0.0

    def seconds(self, last_move: float) -> float:
        """How long nothing has moved, if the last thing that did moved at `last_move`."""
        now = self._now()
        passed, self._looked = min(now - self._looked, self._most_seconds), now
        if last_move != self._moved:
            self._moved = last_move
            self._seconds = min(now - last_move, passed)
        else:
            self._seconds += passed
        return self._seconds
