"""A knob that has another value within windows of updates, and outside what its setting or its curve says."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError
from respawn.schedules.compose import KnobSchedule


@dataclass(frozen=True)
class ValueWindow:
    """A value for some updates, counted from 1; the ends belong to it."""

    first: int
    """the first update"""
    last: int | None
    """the last update; none: to the end of the run"""
    value: float
    """what holds there"""

    def __post_init__(self) -> None:
        """Refuse windows that hold no update."""
        check_at_least("a window's ", self, {"first": 1, "value": 0.0})
        if self.last is not None and self.last < self.first:
            raise ConfigError(f"a window's last ({self.last}) must not come before its first ({self.first}); swap them")


@dataclass(frozen=True)
class KnobWindow:
    """A value of any knob for some updates, counted from 1; the ends belong to it."""

    knob: str
    """which one"""
    first: int
    """the first update"""
    value: float
    """what holds there; it may not have the other sign than the knob's setting"""
    last: int | None = None
    """the last update; none: to the end of the run"""

    def __post_init__(self) -> None:
        """Refuse windows that hold no update, and values that are none."""
        prefix = f"the window of {self.knob}: its "
        check_at_least(prefix, self, {"first": 1})
        if not math.isfinite(self.value):
            raise ConfigError(f"{prefix}value must be finite, not {self.value}")
        if self.last is not None and self.last < self.first:
            raise ConfigError(f"{prefix}last ({self.last}) must not come before its first ({self.first}); swap them")


class Windows:
    """One knob and its windows; where they overlap, later ones in the list win. It remembers nothing."""

    def __init__(
        self,
        knob: str,
        setting: float,
        windows: Sequence[ValueWindow | KnobWindow],
        outside: KnobSchedule | None = None,
    ) -> None:
        """Lay windows over a curve.

        Args:
          knob: which one.
          setting: what holds outside of the windows, where there is no curve.
          windows: all of that knob.
          outside: what holds there instead.
        """
        self._knob = knob
        self._setting = setting
        self._windows = tuple(windows)
        self._outside = outside

    @property
    def owns(self) -> frozenset[str]:
        """The one knob."""
        return frozenset({self._knob})

    @property
    def bends(self) -> bool:
        """Whether the knob ever changes."""
        return True

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of all that it may ever decide."""
        outside = (self._setting, self._setting) if self._outside is None else self._outside.reach
        values = [*outside, *(window.value for window in self._windows)]
        return min(values), max(values)

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """What happens moves no window."""
        return ()

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """The value for the update about to be made."""
        update = clock.updates + 1
        value = self._setting if self._outside is None else self._outside.decide(clock)[self._knob]
        for window in self._windows:
            if window.first <= update and (window.last is None or update <= window.last):
                value = window.value
        return {self._knob: value}

    def state(self) -> StateTree:
        """Nothing to remember."""
        return {}

    def restore(self, state: StateTree) -> None:
        """Nothing to take up."""
