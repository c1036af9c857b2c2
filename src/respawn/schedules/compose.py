"""How two schedules meet on one knob: one lies over the other, and the upper one may lock the lower.

The director lets each knob have one owner. Where two are to share a knob, the upper one is given the lower one and
owns the knob alone: windows over a curve, a channel over either.
"""

from collections.abc import Mapping
from typing import Protocol

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.schedule import Schedule
from respawn.errors import ConfigError


class KnobSchedule(Schedule, Protocol):
    """A schedule of one knob that says beforehand how far it goes, so that another may lie over it."""

    @property
    def bends(self) -> bool:
        """Whether the knob ever changes."""
        ...

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of all that it may ever decide."""
        ...


class Fixed:
    """A knob that stays at its setting: what lies under a channel where there is no curve."""

    def __init__(self, knob: str, setting: float) -> None:
        self._knob = knob
        self._setting = setting

    @property
    def owns(self) -> frozenset[str]:
        """The one knob."""
        return frozenset({self._knob})

    @property
    def bends(self) -> bool:
        """Never."""
        return False

    @property
    def reach(self) -> tuple[float, float]:
        """The setting alone."""
        return self._setting, self._setting

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """What happens changes nothing."""
        return ()

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """The setting."""
        return {self._knob: self._setting}

    def state(self) -> StateTree:
        """Nothing to remember."""
        return {}

    def restore(self, state: StateTree) -> None:
        """Nothing to take up."""


class Lock:
    """What a schedule decides for its one knob; from the moment that it is locked, what it decided last."""

    def __init__(self, knob: str, schedule: Schedule) -> None:
        self._knob = knob
        self._schedule = schedule
        self._locked: float | None = None

    def lock(self, clock: Clock) -> None:
        """From now on what would have held for the update after the clock's holds for all."""
        if self._locked is None:
            self._locked = self._schedule.decide(clock)[self._knob]

    def value(self, clock: Clock) -> float:
        """What holds for the update after the clock's."""
        return self._schedule.decide(clock)[self._knob] if self._locked is None else self._locked

    def state(self) -> StateTree:
        """Whether and where it is locked; and the schedule's own."""
        return {"locked": self._locked, "schedule": self._schedule.state()}

    def restore(self, state: StateTree) -> None:
        """The same again."""
        self._locked = state["locked"]
        self._schedule.restore(state["schedule"])


def check_reach(schedule: KnobSchedule, spec: KnobSpec) -> None:
    """Refuse what a schedule might ask for later and the knob cannot give, or could only with the other sign."""
    lowest, highest = schedule.reach
    if not spec.low <= lowest <= highest <= spec.high:
        raise ConfigError(
            f"'{spec.name}' must lie from {spec.low:g} to {spec.high:g}, and its schedules may take it from "
            f"{lowest:g} to {highest:g}; change them or the setting ({spec.default:g})"
        )
    if (spec.default > 0.0 and lowest < 0.0) or (spec.default < 0.0 and highest > 0.0):
        raise ConfigError(
            f"'{spec.name}' is set to {spec.default:g}, and its schedules may take it from {lowest:g} to {highest:g}: "
            "what is a prize cannot become a penalty, nor a penalty a prize; change their sign"
        )
