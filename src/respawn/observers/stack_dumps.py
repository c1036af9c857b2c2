"""What every thread was doing, as text in a file."""

import faulthandler
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from respawn.observers.thread_phases import Doing

MOST_DUMPS = 50
"""Files of one kind that are kept: a run that is slow for a week would fill its folder with the same."""


@dataclass(frozen=True)
class Kept:
    """What became of a dump, to be told with what it is about."""

    said: str
    """the end of a sentence"""
    facts: dict[str, str] = field(default_factory=dict)


def try_to_dump(folder: Path, why: str, sentence: str, doing: Sequence[Doing]) -> Kept:
    """As `dump_stacks`, but where that fails it says so: what stands still may be the disk, and watching must go on."""
    try:
        path = dump_stacks(folder, why, sentence, doing)
    except OSError as error:
        return Kept(f"; the stacks of all threads could not be kept ({error})")
    return Kept(f"; the stacks of all threads are in {path.parent.name}/{path.name}", {"trace": str(path)})


def dump_stacks(folder: Path, why: str, sentence: str, doing: Sequence[Doing]) -> Path:
    """Write the stacks of all threads into a new file of `folder`, named by `why` and the time.

    Of older ones of the same kind the newest are kept.
    """
    folder.mkdir(exist_ok=True)
    path = folder / f"{why}-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z.txt"
    phases = [f"{each.thread}: {each.phase} for {each.seconds:.1f} s" for each in doing]
    path.write_text("\n".join([sentence, *phases, "", *_stacks()]), encoding="utf-8")
    others = sorted(each for each in folder.glob(f"{why}-*.txt") if each != path)  # not always older: clocks are set
    for old in others[: -(MOST_DUMPS - 1)]:
        old.unlink(missing_ok=True)
    return path


def _stacks() -> list[str]:
    threads = {thread.ident: thread for thread in threading.enumerate()}
    lines = []
    for ident, frame in sys._current_frames().items():
        thread = threads.get(ident)
        name = "a thread that Python did not start" if thread is None else thread.name
        lines += [f"thread {name} ({ident})", "".join(traceback.format_stack(frame))]
    return lines


class LastResort:
    """Dumps all stacks when even the watching thread cannot run, because native code never lets go of the interpreter.

    Armed again and again by whoever watches. The process has one such timer; what arms it last has it.
    """

    def __init__(self, path: Path, *, ends_process: bool = False) -> None:
        self._path = path
        self._ends_process = ends_process
        self._file: TextIO | None = None
        self._known_bytes = 0
        self._seconds = 0.0

    def arm(self, seconds: float) -> None:
        """Dump, and end the process if asked to, unless armed again, or disarmed, within `seconds`."""
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            for other in self._path.parent.glob("hung-*.txt"):
                if other.stat().st_size == 0:
                    other.unlink()  # of a process that was killed, and had nothing to say
            self._file = self._path.open("a", encoding="utf-8")
        self._seconds = seconds
        faulthandler.dump_traceback_later(seconds, file=self._file, exit=self._ends_process)

    def fired(self) -> Path | None:
        """Where the stacks are, if there are any that were not asked for yet; armed again then."""
        if self._file is None or os.fstat(self._file.fileno()).st_size == self._known_bytes:
            return None
        self.arm(self._seconds)  # waits for a dump that is under way, so that it is news once and not line by line
        self._known_bytes = os.fstat(self._file.fileno()).st_size
        return self._path

    def disarm(self) -> None:
        """Dump nothing; a file that nothing was written to is removed."""
        if self._file is not None:
            faulthandler.cancel_dump_traceback_later()
            self._file.close()
            self._file = None
            with suppress(OSError):  # on a disk that refuses an empty file is left, which says nothing
                if self._path.stat().st_size == 0:
                    self._path.unlink()
                    if not any(self._path.parent.iterdir()):
                        self._path.parent.rmdir()
