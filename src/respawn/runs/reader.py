"""Typed streams back from a run folder, also while the run goes on.

A process that is killed may leave half a row at the end of a file. Such a torn last line is as good as not written and
is passed over; a broken line anywhere else means that the file was damaged, and is an error.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from respawn.contracts.records import EpisodeReport, EvaluationReport, Event, UpdateReport
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.rows import R, Row, from_row

_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event and when it happened, ISO-8601 UTC."""

    time: str
    event: Event


def read_updates(folder: RunFolder) -> Iterator[UpdateReport]:
    """All rows of updates.jsonl, in order."""
    return _read(folder.updates, UpdateReport)


def read_episodes(folder: RunFolder) -> Iterator[EpisodeReport]:
    """All rows of episodes.jsonl, in order."""
    return _read(folder.episodes, EpisodeReport)


def read_evaluations(folder: RunFolder) -> Iterator[EvaluationReport]:
    """All rows of evaluations.jsonl, in order."""
    return _read(folder.evaluations, EvaluationReport)


def read_events(folder: RunFolder) -> Iterator[TimedEvent]:
    """All rows of events.jsonl, in order."""
    for number, row in read_rows(folder.events):
        yield TimedEvent(str(row.get("time", "")), _decode(folder.events, number, Event, row))


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of any .jsonl file with their line numbers, from 1; none if there is no such file yet."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, start=1):
            row = _parse(line)
            if row is not None:
                yield number, row
            elif next(file, None) is not None:
                raise RunFolderError(f"{path}, line {number} should be a JSON object; remove or repair that line")


def last_row(path: Path) -> Row | None:
    """The last whole row of a .jsonl file, read from the end; None if there is none."""
    tail = _Tail.of(path)
    return tail.row if tail else None


def sound_bytes(path: Path) -> int:
    """How many bytes of a .jsonl file are left when a torn last line is dropped."""
    tail = _Tail.of(path)
    return tail.sound_bytes if tail else 0


@dataclass(frozen=True, slots=True)
class _Tail:
    row: Row | None
    sound_bytes: int

    @classmethod
    def of(cls, path: Path) -> "_Tail | None":
        """The last whole row and where it ends; at most one broken line after it is forgiven."""
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return None
        tail, start = b"", size
        with path.open("rb") as file:
            while start > 0 and tail.count(b"\n") < 3:  # enough for two whole lines and a torn one
                step = min(_BLOCK_BYTES, start)
                start -= step
                file.seek(start)
                tail = file.read(step) + tail
        lines = [line for line in re.split(rb"(?<=\n)", tail) if line]
        if not lines:
            return cls(None, 0)
        row = _parse(lines[-1])
        if row is not None:
            return cls(row, size)
        return cls(_parse(lines[-2]) if len(lines) > 1 else None, size - len(lines[-1]))


def _read(path: Path, kind: type[R]) -> Iterator[R]:
    for number, row in read_rows(path):
        yield _decode(path, number, kind, row)


def _decode(path: Path, number: int, kind: type[R], row: Row) -> R:
    try:
        return from_row(kind, row)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise RunFolderError(
            f"{path}, line {number} should be one {kind.__name__}, but has {type(error).__name__}: {error}; repair it"
        ) from error


def _parse(line: bytes) -> Row | None:
    """The row on a line; None if the line has no end or is not a JSON object."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
