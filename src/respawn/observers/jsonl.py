"""One record type, one stream, one file: a JSON object on each line."""

import hashlib
import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from threading import RLock

from respawn.contracts.records import Beat, Event, Record, ResourceReport
from respawn.contracts.saveable import StateTree
from respawn.errors import RunFolderError
from respawn.runs.kept_rows import archive_of, checked, checksum, open_kept
from respawn.runs.metadata import utc_now
from respawn.runs.reader import sound_bytes
from respawn.runs.rotation import archive_numbers, bring_back, finish_compressing, prune, set_aside
from respawn.runs.rows import to_line, to_row

_CHECKPOINTS = 2  # the newest may turn out to be damaged
_TIMED = (Event, Beat, ResourceReport)
"""Records whose rows say when they were written."""


class JsonlStream:
    """Appends the records of one type to a file.

    Each row is handed to the operating system at once and whole, so that others can follow the file and a killed
    process has lost nothing. That costs a few microseconds a row; what costs milliseconds, waiting for the disk, is
    done by `state` only, since only a checkpoint counts on the rows being there after a power failure.

    Nothing in the file is changed before the stream is restored or receives a record. A file that would grow beyond
    `rotate_bytes` is set aside as an archive first. All of this happens under one lock, so any thread may write.
    """

    def __init__(
        self,
        path: Path,
        record_type: type[Record],
        *,
        truncate_on_restore: bool,
        rotate_bytes: int = 0,
        retain_archives: int = 0,
    ) -> None:
        """Open a stream.

        Args:
          path: its file.
          record_type: what is written; other records are passed over.
          truncate_on_restore: whether restoring forgets the rows since.
          rotate_bytes: set the file aside before it becomes larger; 0: never.
          retain_archives: how many of those to keep, and all that going back to the newest checkpoints takes; 0: all.
        """
        self._path = path
        self._record_type = record_type
        self._truncate_on_restore = truncate_on_restore
        self._rotate_bytes = rotate_bytes
        self._retain_archives = retain_archives
        self._one_at_a_time = RLock()
        self._open()
        self._sha256 = hashlib.sha256()  # of the file's bytes
        self._bytes = 0  # its length, once taken up
        self._taken_up = False
        self._is_closed = False
        self._needed_after: deque[int] = deque(maxlen=_CHECKPOINTS)
        self._saved_at: tuple[int, int] | None = None  # where the stream was at the newest checkpoint

    def _open(self) -> None:
        try:
            self._file = self._path.open("a+b", buffering=0)
        except OSError as error:
            raise RunFolderError(
                f"{self._path} cannot be opened ({error.strerror}); it should be a file that you may read and write"
            ) from error

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._is_closed

    def receive(self, record: Record) -> None:
        """Write a record of this stream's type."""
        if not isinstance(record, self._record_type):
            return
        with self._one_at_a_time:
            self._take_up_whole_lines()
            row = to_row(record)
            line = to_line({"time": utc_now(), **row} if isinstance(record, _TIMED) else row)
            if self._rotate_bytes and self._bytes and self._bytes + len(line) > self._rotate_bytes:
                self._rotate()
            self._taken_up = False  # until all of it is written: whoever tries again drops the half of a row first
            self._write(memoryview(line))
            self._taken_up = True

    def _write(self, left: memoryview) -> None:
        while left:  # a write may take only a part
            written = self._file.write(left) or 0
            self._sha256.update(left[:written])
            self._bytes += written
            left = left[written:]

    def _rotate(self) -> None:
        self._file.close()
        try:
            set_aside(self._path)
            self._let_go()
        finally:  # where that fails, whoever tries again goes on with what is there then
            self._sha256, self._bytes, self._taken_up = hashlib.sha256(), 0, False
            self._open()

    def _let_go(self) -> None:
        """Delete archives that are more than are to be kept, but for what the newest checkpoints may go back to."""
        if not self._retain_archives:
            return
        with suppress(OSError):  # it is tried again and again, and no row is the worse for it
            prune(self._path, self._retain_archives, before=min(self._needed_after, default=None))

    def state(self) -> StateTree:
        """The file's length and checksum, once all of it is on the disk, and the number of its last archive.

        Besides that number at each of the newest checkpoints, for whoever goes on from this one.
        """
        with self._one_at_a_time:
            self._take_up_whole_lines()
            self._let_go()  # also before the file is full again: fewer may be kept than when the run was begun
            os.fsync(self._file.fileno())
            archive, length = self._last_archive(), self._length()
            self._note_checkpoint(archive, length)
            return {
                "bytes": length,
                "sha256": self._sha256.hexdigest(),
                "archive": archive,
                "needed_after": list(self._needed_after),
            }

    def restore(self, state: StateTree) -> None:
        """Forget the rows written since `state` was asked for, because they are going to be made again.

        Raises:
          RunFolderError: the rows written before that are not as they were. Nothing is changed then.
        """
        with self._one_at_a_time:
            if self._truncate_on_restore:
                self._restore(state)
            else:
                self._take_up_whole_lines()

    def _restore(self, state: StateTree) -> None:
        archive = archive_of(self._path, state)
        if archive is None:
            sha256 = checked(self._path, self._file, state)
        else:
            # What was the file when the checkpoint was made was set aside after that.
            with open_kept(self._path, archive) as file:
                sha256 = checked(self._path, file, state)
            self._file.close()
            try:
                bring_back(self._path, archive)
            finally:
                self._open()
        then, length = int(state.get("archive", 0)), int(state["bytes"])
        # Whoever resumes protects what the process before it did; older versions did not say what that was.
        self._needed_after = deque(state.get("needed_after", [then]), maxlen=_CHECKPOINTS)
        self._saved_at = (then, length)
        self._go_on_after(length, sha256)

    def _note_checkpoint(self, archive: int, length: int) -> None:
        """Going back to a checkpoint takes all archives after the last one that it knows of.

        That one stays too: where all that came after it is forgotten, the numbers go on from it.
        """
        if self._truncate_on_restore and self._saved_at != (archive, length):
            self._needed_after.append(archive)
            self._saved_at = (archive, length)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._is_closed = True
        self._file.close()

    def _take_up_whole_lines(self) -> None:
        """At the first use, go on after what is there, without the half row that a killed process may have left.

        After a row that could not be written, likewise.
        """
        if not self._taken_up:
            if self._file.closed and not self._is_closed:  # it could not be opened again after it had been set aside
                self._open()
            length = sound_bytes(self._path)
            self._go_on_after(length, checksum(self._file, length))

    def _go_on_after(self, length: int, sha256: "hashlib._Hash") -> None:
        self._file.truncate(length)
        self._sha256, self._bytes = sha256, length
        finish_compressing(self._path)
        self._taken_up = True

    def _last_archive(self) -> int:
        return max(archive_numbers(self._path), default=0)

    def _length(self) -> int:
        return os.fstat(self._file.fileno()).st_size
