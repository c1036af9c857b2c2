"""How long a turn of a training is, and how much of it does not count."""

import math
from dataclasses import dataclass
from typing import Protocol

LEAST_DROPPED = 3
"""Updates in which a process that has just begun is not yet itself."""
UPDATE_SECONDS = 300.0
"""No update takes longer that anybody would measure; the longest of a preset's takes a minute and a half on two cores
that have other work."""


class Pacing(Protocol):
    """How long a turn is."""

    def dropped(self, lag: int) -> int:
        """Updates at the beginning of each turn that do not count.

        At least those whose rollouts were gathered before the turn began, while others were measured.
        """

    def goes_on(self, updates: int, seconds: float, lag: int) -> bool:
        """Whether another update belongs to the turn, after so many that counted and so many seconds."""

    def longest_seconds(self, lag: int) -> float:
        """How long a turn may take, what does not count included."""


@dataclass(frozen=True)
class CountedPacing:
    """So many updates a turn, a share of which is dropped."""

    updates: int = 20
    warmup_fraction: float = 0.3

    def dropped(self, lag: int) -> int:
        """The share, and never too few."""
        return max(math.ceil(self.warmup_fraction * self.updates), _least_dropped(lag))

    def counted(self, lag: int) -> int:
        """Updates of each turn that do count."""
        return max(self.updates - self.dropped(lag), 1)

    def goes_on(self, updates: int, seconds: float, lag: int) -> bool:
        """Until all are made."""
        return updates < self.counted(lag)

    def longest_seconds(self, lag: int) -> float:
        """By the number of updates."""
        return (self.dropped(lag) + self.counted(lag)) * UPDATE_SECONDS


@dataclass(frozen=True)
class TimedPacing:
    """As many updates a turn as there is time for; one that has begun is finished."""

    seconds: float = 4.0

    def dropped(self, lag: int) -> int:
        """As few as can be."""
        return _least_dropped(lag)

    def goes_on(self, updates: int, seconds: float, lag: int) -> bool:
        """Until the time is over, and at least once."""
        return updates == 0 or seconds < self.seconds

    def longest_seconds(self, lag: int) -> float:
        """The time, and the updates before it and at its end."""
        return self.seconds + (self.dropped(lag) + 1) * UPDATE_SECONDS


def _least_dropped(lag: int) -> int:
    return max(2 * lag + 1, LEAST_DROPPED)
