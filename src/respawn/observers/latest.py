"""The newest row of updates as a Parquet file, for whoever wants only that: always whole, never a half."""

from pathlib import Path

from respawn.contracts.records import Record, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.observers.throttle import EverySeconds
from respawn.runs.parquet import write_row
from respawn.runs.rows import to_row


class Latest:
    """Replaces the file every so often, and when the run ends."""

    def __init__(self, path: Path, every_seconds: float) -> None:
        self._path = path
        self._throttle = EverySeconds(every_seconds)
        self._unwritten: UpdateReport | None = None

    def receive(self, record: Record) -> None:
        """Keep an update, and write it once the last one written is long enough ago, whatever record comes then."""
        if isinstance(record, UpdateReport):
            self._unwritten = record
        if self._unwritten is not None and self._throttle.due():
            self._write()

    def state(self) -> StateTree:
        """Nothing: the file is made anew."""
        return {}

    def restore(self, state: StateTree) -> None:
        """Nothing to take up."""

    def close(self) -> None:
        """Write the last update; safe to call twice."""
        self._write()

    def _write(self) -> None:
        if self._unwritten is not None:
            report, self._unwritten = self._unwritten, None
            write_row(self._path, to_row(report))
