"""One record type, one stream, one file: a JSON object on each line."""

import os
from pathlib import Path

from respawn.contracts.records import Event, Record
from respawn.contracts.saveable import StateTree
from respawn.errors import RunFolderError
from respawn.runs.metadata import utc_now
from respawn.runs.reader import sound_bytes
from respawn.runs.rows import to_line, to_row


class JsonlStream:
    """Appends the records of one type to a file.

    Each row is handed to the operating system at once and whole, so that others can follow the file and a killed
    process has lost nothing. That costs a few microseconds a row; what costs milliseconds, waiting for the disk, is
    done by `state` only, since only a checkpoint counts on the rows being there after a power failure.
    """

    def __init__(self, path: Path, record_type: type[Record], *, truncate_on_restore: bool) -> None:
        self._path = path
        self._record_type = record_type
        self._truncate_on_restore = truncate_on_restore
        whole = sound_bytes(path)
        self._file = path.open("ab", buffering=0)
        self._file.truncate(whole)  # a killed process may have left half a row

    def receive(self, record: Record) -> None:
        """Write a record of this stream's type."""
        if not isinstance(record, self._record_type):
            return
        row = to_row(record)
        left = memoryview(to_line({"time": utc_now(), **row} if isinstance(record, Event) else row))
        while left:  # a write may take only a part
            left = left[self._file.write(left) or 0 :]

    def state(self) -> StateTree:
        """The file's length, once all of it is on the disk."""
        os.fsync(self._file.fileno())
        return {"bytes": self._length()}

    def restore(self, state: StateTree) -> None:
        """Forget the rows written since `state` was asked for, because they are going to be made again."""
        if not self._truncate_on_restore:
            return
        length, wanted = self._length(), int(state["bytes"])
        if length < wanted:
            raise RunFolderError(
                f"{self._path} should hold at least the {wanted} bytes the checkpoint knows of, but holds {length}; "
                "put the file back, for the rows that are missing cannot be made again"
            )
        self._file.truncate(wanted)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def _length(self) -> int:
        return os.fstat(self._file.fileno()).st_size
