"""The same names in TensorBoard, over decisions."""

import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from respawn.contracts.records import EvaluationReport, Record, ResourceReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.observers.ruling_numbers import ruling_numbers
from respawn.observers.throttle import EverySeconds

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_LONGEST_WAIT_SECONDS = 2.0
"""A file that is from farther in the future was written before the clock was set back; waiting is no help then."""


class TensorBoard:
    """Draws curves of updates, evaluations and resources over decisions, so that runs of different lanes compare.

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
        elif isinstance(record, EvaluationReport | ResourceReport):
            self._draw(record.metrics, record.decisions)
        elif isinstance(record, Ruling):
            self._draw(ruling_numbers(record), self._decisions)

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
        # Imported here because it takes a second and many a process never draws.
        from tensorboard.compat.proto.summary_pb2 import Summary
        from torch.utils.tensorboard import SummaryWriter

        if self._writer is None:
            _hear_errors_once()
            _wait_for_a_later_name(self._directory)
            self._writer = SummaryWriter(str(self._directory), purge_step=self._purge_step, flush_secs=5)
            self._purge_step = None
        # All at once: a scalar at a time costs ten times as much, in this thread and in the writer's own.
        values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        events: Any = self._writer.file_writer  # which is there until it is closed, whatever its type says
        events.add_summary(Summary(value=values), decisions)


def _wait_for_a_later_name(directory: Path) -> None:
    """Let the next file's name come after all others': TensorBoard reads by name, and what hides must be read last.

    Names begin with the second, and within one second their order says nothing of which was first.
    """
    parts = [path.name.split(".")[3] for path in directory.glob("events.out.tfevents.*")]
    next_second = max((int(second) for second in parts if second.isdecimal()), default=0) + 1
    # Looked at again after sleeping: sleep goes by another clock than names do, which may be corrected meanwhile.
    while 0 < (ahead := next_second - time.time()) <= _LONGEST_WAIT_SECONDS:
        time.sleep(ahead)


@cache
def _hear_errors_once() -> None:
    """Let what fails in a writer's own thread not be printed there: the next call from here raises it again."""
    print_error = threading.excepthook

    def hook(failed: threading.ExceptHookArgs) -> None:
        if not type(failed.thread).__module__.startswith("tensorboard."):
            print_error(failed)

    threading.excepthook = hook
