"""Knobs: the numbers that schedules may turn while a run goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class KnobSpec:
    """A number that its consumer lets others decide."""

    name: str
    default: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Start:
    """A beginning that an episode is to be given. What its state means is known to the world it was made for alone."""

    number: int
    """its place in the queue of all that were ever offered: a world takes none twice"""
    kind: str
    """what sort of beginning it is, such as 'main'"""
    state: Mapping[str, Any]
    """numbers and nested lists of numbers"""


@dataclass(frozen=True, slots=True)
class Knobs:
    """One value for every declared knob, decided anew before each update.

    They hold for one update and for the rollout that is gathered for it, or, with lag 1, beside it: there a rollout is
    learned from one update after the knobs that it was gathered with, and the learner goes by those of its own update.
    """

    version: int
    values: Mapping[str, float]
    starts: tuple[Start, ...] = ()
    """beginnings that wait for episodes to begin, the next one first; for worlds that take them"""

    def __getitem__(self, name: str) -> float:
        return self.values[name]
