"""The seam between what happened and which numbers follow from it."""

from collections.abc import Mapping
from typing import Protocol

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.contracts.saveable import Saveable


class Schedule(Saveable, Protocol):
    """Decides the values of the knobs it owns. Writes no file and prints nothing."""

    @property
    def owns(self) -> frozenset[str]:
        """Knob names; two owners of one knob are an error."""
        ...

    def observe(self, report: UpdateReport | EvaluationReport) -> None:
        """Take note of what happened."""
        ...

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """A value for each owned knob. No side effect: asking twice answers the same."""
        ...
