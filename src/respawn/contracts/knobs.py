"""Knobs: the numbers that schedules may turn while a run goes on."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnobSpec:
    """A number that its consumer lets others decide."""

    name: str
    default: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Knobs:
    """One value for every declared knob, decided anew before each update.

    They hold for one update and for the rollout that is gathered for it, or, with lag 1, beside it: there a rollout is
    learned from one update after the knobs that it was gathered with, and the learner goes by those of its own update.
    """

    version: int
    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.values[name]
