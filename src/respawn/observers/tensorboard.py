"""The same names in TensorBoard, over decisions."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from respawn.contracts.records import EvaluationReport, Record, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.observers.throttle import EverySeconds

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TensorBoard:
    """Draws curves of updates and evaluations; the x axis counts decisions, so runs of different lanes compare.

    A fast run makes hundreds of updates a second, and a curve needs no more than one: updates in between are only in
    updates.jsonl. The first and the last update and all evaluations are always drawn.
    """

    def __init__(self, directory: Path, every_seconds: float = 1.0) -> None:
        self._directory = directory
        self._throttle = EverySeconds(every_seconds)
        self._writer: SummaryWriter | None = None
        self._undrawn: UpdateReport | None = None
        self._decisions = 0
        self._purge_step: int | None = None

    def receive(self, record: Record) -> None:
        """Draw an evaluation, a ruling, or an update if the last one drawn is long enough ago."""
        if isinstance(record, UpdateReport):
            self._decisions = record.decisions
            self._undrawn = record
            if self._throttle.due():
                self._draw_update()
        elif isinstance(record, EvaluationReport):
            self._draw(record.metrics, record.decisions)
        elif isinstance(record, Ruling):
            self._draw(_numbers(record), self._decisions)

    def state(self) -> StateTree:
        """How far the curves go."""
        return {"decisions": self._decisions}

    def restore(self, state: StateTree) -> None:
        """Hide what was drawn after `state` was asked for, because it is going to be made again."""
        self._decisions = int(state["decisions"])
        self._purge_step = self._decisions + 1
        self._undrawn = None
        self.close()

    def close(self) -> None:
        """Draw the last update and close the file; safe to call twice."""
        self._draw_update()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _draw_update(self) -> None:
        if self._undrawn is not None:
            report, self._undrawn = self._undrawn, None
            self._draw(report.metrics, report.decisions)

    def _draw(self, metrics: Mapping[str, float], decisions: int) -> None:
        if self._writer is None:
            # Imported here because it takes a second and many a process never draws.
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self._directory), purge_step=self._purge_step, flush_secs=5)
            self._purge_step = None
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, decisions)


def _numbers(ruling: Ruling) -> dict[str, float]:
    """What a schedule concluded that can be drawn, under the schedule's own name."""
    return {
        f"{ruling.schedule}/{name}": float(fact)
        for name, fact in ruling.facts.items()
        if isinstance(fact, int | float) and isfinite(fact)
    }
