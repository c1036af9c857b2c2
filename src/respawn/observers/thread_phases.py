"""What every thread of the run is doing, and since when."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from respawn.contracts.pulse import IDLE


@dataclass(frozen=True, slots=True)
class Doing:
    """What a thread has been doing for how long."""

    thread: str
    phase: str
    seconds: float
    began: float
    """on the clock of the phases: two looks with the same number saw the same doing"""
    share: float = 0.0
    """how much is gathered of the rollout that it belongs to"""


class ThreadPhases:
    """The pulse of a run: threads mark, watchers look. No lock: one entry a thread, replaced whole."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # By the thread itself: the number of one that has ended is given to the next one that begins.
        self._marks: dict[threading.Thread, tuple[str, float, float]] = {}
        self._moved = now()

    def mark(self, phase: str, share: float = 0.0) -> None:
        """The calling thread is in `phase` from now on, and `share` of its rollout is gathered."""
        self._marks[threading.current_thread()] = (phase, self._now(), share)

    def moved(self) -> None:
        """Something moves within the phase that a thread is in."""
        self._moved = self._now()

    def look(self) -> list[Doing]:
        """What every thread that is still there and not idle is doing, the newest mark last."""
        now = self._now()
        doing = [
            Doing(thread.name, phase, now - began, began, share)
            for thread, (phase, began, share) in list(self._marks.items())
            if thread.is_alive() and phase != IDLE
        ]
        return sorted(doing, key=lambda each: each.began)

    def last_move(self) -> float:
        """When anything last moved, on the clock of the phases."""
        return max(self._moved, *(began for _, began, _ in list(self._marks.values())), -inf)

    def idle_seconds(self) -> float:
        """How long nothing has moved."""
        return self._now() - self.last_move()
