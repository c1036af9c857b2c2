"""What an adaptive channel listens to, what it turns, and how far."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError

Direction: TypeAlias = Literal["highest", "lowest", "stay"]

LATE_GROUPS = frozenset({"return", "length", "episodes", "episode", "evaluation"})
"""Metrics that appear when the first episode or evaluation is over, however long that takes."""

USUAL_PATIENCE_UPDATES = 50


@dataclass(frozen=True)
class AdaptiveConfig:
    """One knob that follows one signal: while the signal is out of a band, the knob goes towards a bound."""

    signal: str
    """a metric of updates or evaluations, such as world/forward_share, policy/entropy or evaluation/cleared"""
    knob: str
    """what is turned"""
    low: float
    """the band's lower end"""
    high: float
    """the band's upper end; within the band, whose ends belong to it, the knob stays"""
    lowest: float
    """the knob's lower bound; in mode scale, the factor's"""
    highest: float
    """the upper bound"""
    mode: Literal["replace", "scale"] = "replace"
    """replace: the channel decides the knob; scale: it multiplies what the knob's curve says, and begins at 1"""
    below: Direction = "highest"
    """where the knob goes when the signal is below the band"""
    above: Direction = "lowest"
    """where it goes when the signal is above"""
    window: int = 50
    """how many values of the signal are averaged; nothing moves before there are as many"""
    step: float = 0.05
    """share of the way to the bound that each move goes"""
    cooldown_updates: int = 0
    """updates after a move in which there is no other"""
    anneal_lock: bool = False
    """lock the knob's curve where it is when the window is first full; without it, only scale may meet a curve"""
    patience_updates: int = USUAL_PATIENCE_UPDATES
    """a signal of the world that has not appeared after so many updates is a mistake: the run ends"""

    def __post_init__(self) -> None:
        """Refuse what cannot adapt."""
        prefix = self.prefix
        check_at_least(prefix, self, {"window": 1, "cooldown_updates": 0, "patience_updates": 1})
        check_above(prefix, self, {"step": 0.0})
        check_between(prefix, self, {"step": (0.0, 1.0)})
        for below, above in (("low", "high"), ("lowest", "highest")):
            self._check_pair(below, above)
        if self.lowest == self.highest:
            raise ConfigError(f"{prefix}lowest and highest are both {self.lowest:g}, so nothing can move; part them")
        if self.below == self.above:
            raise ConfigError(
                f"{prefix}below and above are both '{self.below}', so the signal makes no difference; change one"
            )
        if self.mode == "scale" and not 0.0 <= self.lowest <= 1.0 <= self.highest:
            raise ConfigError(
                f"{prefix}factor begins at 1, so lowest must be from 0 to 1 and highest at least 1, not "
                f"{self.lowest:g} and {self.highest:g}"
            )
        self._check_signal()

    def _check_pair(self, below: str, above: str) -> None:
        lower, upper = getattr(self, below), getattr(self, above)
        if not (math.isfinite(lower) and math.isfinite(upper) and lower <= upper):
            raise ConfigError(
                f"{self.prefix}{below} must be finite and at most its {above}, but they are {lower} and {upper}; swap "
                "them"
            )

    def _check_signal(self) -> None:
        group, _, name = self.signal.partition("/")
        if not (group and name):
            raise ConfigError(f"{self.prefix}signal must be a metric's name, group/name, not '{self.signal}'")
        if group == "time":
            raise ConfigError(
                f"{self.prefix}signal must be the same for two equal runs, and '{self.signal}' is not; take one of "
                "another group"
            )
        if self.signal == f"knob/{self.knob}":
            raise ConfigError(f"{self.prefix}signal is the knob itself, which then follows nothing; take another")
        if self.comes_late and self.patience_updates != USUAL_PATIENCE_UPDATES:
            raise ConfigError(
                f"{self.prefix}patience-updates has no effect, for '{self.signal}' comes when the first episode or "
                "evaluation is over, however late; leave it out"
            )

    @property
    def prefix(self) -> str:
        """What refusals begin with."""
        return f"the adaptive channel of {self.knob}: its "

    @property
    def comes_late(self) -> bool:
        """Whether the signal waits for the end of something, so that nobody can say by when it must have come."""
        return self.signal.split("/")[0] in LATE_GROUPS

    @property
    def by_evaluations(self) -> bool:
        """Whether the signal comes with evaluations, not with updates."""
        return self.signal.startswith("evaluation/")
