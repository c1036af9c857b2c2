"""How often an observer acts."""

import time
from collections.abc import Callable


class EverySeconds:
    """Due at once, and then whenever so many seconds have passed since it was last due."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._last: float | None = None

    def due(self) -> bool:
        """Whether it is time again; answering yes begins the next wait."""
        now = self._now()
        if self._last is not None and now - self._last < self._seconds:
            return False
        self._last = now
        return True
