"""What a step was worth, item by item. When episodes end is not decided here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.worlds.mario.config import REWARD_LIMIT, RewardConfig
from respawn.worlds.mario.ram import Integers

Floats = NDArray[np.float64]

ITEMS = ("distance", "score", "time", "flag", "death", "milestone")
"""What is counted. The reward is the sum of each count times its worth; all but flag and death are scaled."""
_ENDS = frozenset({"flag", "death"})


class Counted(NamedTuple):
    """How often, or how much of, each item happened in a step, [B] each."""

    distance: Integers
    """pixels"""
    score: Integers
    """points"""
    time: Integers
    """ticks of the clock"""
    flag: NDArray[np.bool_]
    death: NDArray[np.bool_]
    milestone: Integers
    """multiples of the milestone distance that were passed"""


@dataclass(frozen=True, slots=True)
class Worth:
    """What each item is worth at the moment."""

    distance: float
    score: float
    time: float
    flag: float
    death: float
    milestone: float
    scale: float

    def rewards(self, counted: Counted) -> Floats:
        """[B] float64."""
        total = np.zeros(len(counted.distance))
        for _, worth, count in self._paid_for(counted):
            total += np.multiply(count, worth)
        return total

    def sums(self, counted: Counted) -> dict[str, float]:
        """What was paid in all lanes together for each item that is worth anything, by the name it is counted under."""
        return {f"paid_{item}": worth * float(count.sum()) for item, worth, count in self._paid_for(counted)}

    def _paid_for(self, counted: Counted) -> Iterator[tuple[str, float, NDArray[Any]]]:
        for item, count in zip(ITEMS, counted, strict=True):
            worth = getattr(self, item) * (1.0 if item in _ENDS else self.scale)
            if worth:
                yield item, worth, count


def knob_specs(config: RewardConfig) -> tuple[KnobSpec, ...]:
    """A knob for each item, and one for the scale."""
    names = (*ITEMS, "scale")
    return tuple(KnobSpec(knob_name(name), getattr(config, name), -REWARD_LIMIT, REWARD_LIMIT) for name in names)


def knob_name(item: str) -> str:
    """What an item's knob is called."""
    return f"reward_{item}"


def worth_of(config: RewardConfig) -> Worth:
    """What the items are worth before any schedule has spoken."""
    return Worth(**{name: getattr(config, name) for name in (*ITEMS, "scale")})


def worth_from(knobs: Knobs) -> Worth:
    """What the items are worth now."""
    return Worth(**{name: knobs[knob_name(name)] for name in (*ITEMS, "scale")})
