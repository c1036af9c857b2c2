"""The seam between what happened and which numbers follow from it."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Script, Start
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import Saveable


class Schedule(Saveable, Protocol):
    """Decides the values of the knobs it owns. Writes no file and prints nothing."""

    @property
    def owns(self) -> frozenset[str]:
        """Knob names; two owners of one knob are an error."""
        ...

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """Take note of what happened; answers what was concluded from it, for whoever keeps records."""
        ...

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """A value for each owned knob. No side effect: asking twice answers the same."""
        ...


@runtime_checkable
class OffersStarts(Protocol):
    """A schedule that also says where episodes are to begin."""

    def starts(self, clock: Clock) -> tuple[Start, ...]:
        """The next beginnings, in order. No side effect."""
        ...


@runtime_checkable
class OffersScripts(Protocol):
    """A schedule that also says when actions are to be forced."""

    def scripts(self, clock: Clock) -> tuple[Script, ...]:
        """The scripts that hold, at most one a reason; one that was begun may stay. No side effect."""
        ...
