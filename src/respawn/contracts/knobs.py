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
    """One value for every declared knob; they hold for one rollout and the update made from it."""

    version: int
    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.values[name]
