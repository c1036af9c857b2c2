"""One record type, one stream, one file: a JSON object on each line."""

import hashlib
import os
from pathlib import Path

from respawn.contracts.records import Event, Record
from respawn.contracts.saveable import StateTree
from respawn.errors import RunFolderError
from respawn.runs.metadata import utc_now
from respawn.runs.reader import sound_bytes
from respawn.runs.rows import to_line, to_row

_BLOCK_BYTES = 1 << 20


class JsonlStream:
    """Appends the records of one type to a file.

    Each row is handed to the operating system at once and whole, so that others can follow the file and a killed
    process has lost nothing. That costs a few microseconds a row; what costs milliseconds, waiting for the disk, is
    done by `state` only, since only a checkpoint counts on the rows being there after a power failure.

    Nothing in the file is changed before the stream is restored or receives a record.
    """

    def __init__(self, path: Path, record_type: type[Record], *, truncate_on_restore: bool) -> None:
        self._path = path
        self._record_type = record_type
        self._truncate_on_restore = truncate_on_restore
        try:
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise RunFolderError(
                f"{path} cannot be opened ({error.strerror}); it should be a file that you may read and write"
            ) from error
        self._sha256 = hashlib.sha256()  # of the file's bytes
        self._taken_up = False

    def receive(self, record: Record) -> None:
        """Write a record of this stream's type."""
        if not isinstance(record, self._record_type):
            return
        self._take_up_whole_lines()
        row = to_row(record)
        left = memoryview(to_line({"time": utc_now(), **row} if isinstance(record, Event) else row))
        while left:  # a write may take only a part
            written = self._file.write(left) or 0
            self._sha256.update(left[:written])
            left = left[written:]

    def state(self) -> StateTree:
        """The file's length and checksum, once all of it is on the disk."""
        self._take_up_whole_lines()
        os.fsync(self._file.fileno())
        return {"bytes": self._length(), "sha256": self._sha256.hexdigest()}

    def restore(self, state: StateTree) -> None:
        """Forget the rows written since `state` was asked for, because they are going to be made again.

        Raises:
          RunFolderError: the rows written before that are not as they were. Nothing is changed then.
        """
        if not self._truncate_on_restore:
            self._take_up_whole_lines()
            return
        length, wanted = self._length(), int(state["bytes"])
        if length < wanted:
            raise RunFolderError(
                f"{self._path} should hold at least the {wanted} bytes the checkpoint knows of, but holds {length}; "
                "put the file back, for the rows that are missing cannot be made again"
            )
        sha256 = self._checksum(wanted)
        if wanted > 0 and sha256.hexdigest() != state["sha256"]:
            raise RunFolderError(
                f"{self._path} was changed: its first {wanted} bytes do not match their SHA-256 in the checkpoint; "
                "put the file back from a copy, or move the newest checkpoints away to go on from before the change"
            )
        self._go_on_after(wanted, sha256)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def _take_up_whole_lines(self) -> None:
        """At the first use, go on after what is there, without the half row that a killed process may have left."""
        if not self._taken_up:
            length = sound_bytes(self._path)
            self._go_on_after(length, self._checksum(length))

    def _go_on_after(self, length: int, sha256: "hashlib._Hash") -> None:
        self._file.truncate(length)
        self._sha256 = sha256
        self._taken_up = True

    def _checksum(self, length: int) -> "hashlib._Hash":
        """The checksum of the file's first bytes, which can take in more."""
        sha256 = hashlib.sha256()
        self._file.seek(0)  # only for reading: what is written always goes to the end
        while length > 0 and (block := self._file.read(min(length, _BLOCK_BYTES))):
            sha256.update(block)
            length -= len(block)
        return sha256

    def _length(self) -> int:
        return os.fstat(self._file.fileno()).st_size
