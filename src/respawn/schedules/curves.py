"""Knobs that follow a curve over the whole planned run: constant, linear, cosine or piecewise, with a warm-up."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.schedules.config import CurveConfig


def curve_factor(config: CurveConfig, updates: int, planned_updates: int) -> float:
    """The fraction of a knob's setting that holds for the update after `updates` made ones."""
    warmup_updates = config.warmup_fraction * planned_updates
    if updates < warmup_updates:
        # The first update is already one step up the ramp: a rate of exactly zero would waste it.
        ramp = min((updates + 1) / (warmup_updates + 1), 1.0)
        return ramp * (_between(config.points, updates / planned_updates) if config.points else config.initial_fraction)
    if config.shape == "piecewise":
        return _between(config.points, updates / planned_updates)
    progress = min((updates - warmup_updates) / max(config.span_fraction * planned_updates - warmup_updates, 1.0), 1.0)
    remaining = {
        "constant": 1.0,
        "linear": 1.0 - progress,
        "cosine": _half_cosine(progress),
        "warm_cosine": 1.0 - 2.5 * progress if progress <= 0.2 else 0.5 * _half_cosine((progress - 0.2) / 0.8),
    }[config.shape]
    final = config.initial_fraction if config.shape == "constant" else config.final_fraction
    return final + (config.initial_fraction - final) * remaining


def _half_cosine(progress: float) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def _between(points: Sequence[tuple[float, float]], share: float) -> float:
    """The height of the line through the points; level before the first and after the last."""
    if share < points[0][0]:
        return points[0][1]
    for (left, before), (right, after) in pairwise(points):
        if left <= share < right:
            return before + (after - before) * (share - left) / (right - left)
    return points[-1][1]


class Curve:
    """One knob on one curve. It remembers nothing: the clock is all it needs."""

    def __init__(self, knob: str, setting: float, config: CurveConfig, planned_updates: int) -> None:
        self._knob = knob
        self._setting = setting
        self._config = config
        self._planned_updates = planned_updates

    @property
    def owns(self) -> frozenset[str]:
        """The one knob."""
        return frozenset({self._knob})

    @property
    def bends(self) -> bool:
        """Whether the knob ever changes."""
        return self._config.bends and self._setting != 0.0

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of all that it may ever decide."""
        ends = (self._setting * self._config.lowest_fraction, self._setting * self._config.highest_fraction)
        return min(ends), max(ends)

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """What happens does not bend the curve."""
        return ()

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """The knob's place on the curve."""
        return {self._knob: self._setting * curve_factor(self._config, clock.updates, self._planned_updates)}

    def state(self) -> StateTree:
        """Nothing to remember."""
        return {}

    def restore(self, state: StateTree) -> None:
        """Nothing to take up."""
