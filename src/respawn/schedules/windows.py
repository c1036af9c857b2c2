"""A knob that has another value within windows of updates, and its own setting outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError


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


class Windows:
    """One knob and its windows; where they overlap, later ones in the list win. It remembers nothing."""

    def __init__(self, knob: str, setting: float, windows: Sequence[ValueWindow]) -> None:
        self._knob = knob
        self._setting = setting
        self._windows = tuple(windows)

    @property
    def owns(self) -> frozenset[str]:
        """The one knob."""
        return frozenset({self._knob})

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """What happens moves no window."""
        return ()

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """The value for the update about to be made."""
        update = clock.updates + 1
        value = self._setting
        for window in self._windows:
            if window.first <= update and (window.last is None or update <= window.last):
                value = window.value
        return {self._knob: value}

    def state(self) -> StateTree:
        """Nothing to remember."""
        return {}

    def restore(self, state: StateTree) -> None:
        """Nothing to take up."""
