"""Steps of a world that take too long: told, and when they come often, traced."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from respawn.contracts.records import Event
from respawn.observers.stack_dumps import try_to_dump
from respawn.observers.thread_phases import Doing

STEP_PHASES = frozenset({"world", "act", "evaluate"})
"""Phases that are one step of a world, or one choice of actions; the others may take as long as they take."""


@dataclass(frozen=True)
class SlowStepLimits:
    """What is slow, and how often is too often."""

    step_seconds: float
    """a step that is under way for longer is slow; 0: none is"""
    trace_count: int
    """so many slow steps ..."""
    window_seconds: float
    """... within this time leave a trace"""


class SlowSteps:
    """Looks at what threads are doing while they do it, so that a trace shows the place that is slow.

    Told at most once in half a limit, or five seconds if that is longer.
    """

    def __init__(
        self,
        limits: SlowStepLimits,
        traces: Path,
        notify: Callable[[Event], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._traces = traces
        self._notify = notify
        self._now = now
        self._seen: set[tuple[str, float]] = set()  # the slow steps of the last look, by thread and beginning
        self._slow: deque[float] = deque()
        self._told = -float("inf")

    @property
    def look_seconds(self) -> float:
        """How often to look, so that a step that takes half as long again as it may is seen; infinity: never."""
        return self._limits.step_seconds / 2 or float("inf")

    def look(self, doing: Sequence[Doing]) -> None:
        """Take note of steps that have become slow since the last look."""
        limit = self._limits.step_seconds
        if limit > 0:
            slow = [each for each in doing if each.phase in STEP_PHASES and each.seconds > limit]
            seen, self._seen = self._seen, {(each.thread, each.began) for each in slow}
            for each in slow:
                if (each.thread, each.began) not in seen:
                    self._note(each, doing)

    def _note(self, slow: Doing, doing: Sequence[Doing]) -> None:
        now, limits = self._now(), self._limits
        self._slow.append(now)
        while self._slow[0] < now - limits.window_seconds:
            self._slow.popleft()
        facts: dict[str, str | float] = {
            "thread": slow.thread,
            "phase": slow.phase,
            "limit_seconds": limits.step_seconds,
        }
        if len(self._slow) >= limits.trace_count:
            message = (
                f"{len(self._slow)} steps within {limits.window_seconds:g} s took more than {limits.step_seconds:g} s"
            )
            self._slow.clear()
            kept = try_to_dump(self._traces, "slow-steps", message, doing)
            self._notify(Event("slow_steps", message + kept.said, "warning", {**facts, **kept.facts}))
        elif now - self._told >= max(limits.step_seconds / 2, 5.0):
            self._told = now
            message = (
                f"{slow.thread} has been in '{slow.phase}' for more than {limits.step_seconds:g} s, "
                "which is one step; if that comes again and again, a trace says where"
            )
            self._notify(Event("slow_step", message, "warning", facts))
