"""Typed streams back from a run folder, also while the run goes on.

A process that is killed may leave half a row at the end of a file. Such a torn last line, which has no end, is as good
as not written and is passed over; any other broken line means that the file was damaged, and is an error.
"""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from respawn.contracts.records import EpisodeReport, EvaluationReport, Event, Probe, Ruling, UpdateReport
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


def read_probes(folder: RunFolder) -> Iterator[Probe]:
    """All rows of probes.jsonl, in order."""
    return _read(folder.probes, Probe)


def read_rulings(folder: RunFolder) -> Iterator[Ruling]:
    """All rows of rulings.jsonl, in order."""
    return _read(folder.rulings, Ruling)


def read_events(folder: RunFolder) -> Iterator[TimedEvent]:
    """All rows of events.jsonl, in order."""
    for number, row in read_rows(folder.events):
        yield TimedEvent(str(row.get("time", "")), _decode(folder.events, number, Event, row))


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of any .jsonl file with their line numbers, from 1; none if there is no such file yet."""
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            row = _parse(line)
            if row is None:
                raise RunFolderError(
                    f"{path}, line {number} should be a JSON object; put the file back from a copy, or repair that line"
                )
            yield number, row


def last_row(path: Path) -> Row | None:
    """The last whole row of a .jsonl file, read from the end; None if there is none."""
    line, _ = _last_line(path)
    row = _parse(line) if line else None
    if line and row is None:
        raise RunFolderError(
            f"the last line of {path} should be a JSON object; put the file back from a copy, or repair that line"
        )
    return row


def sound_bytes(path: Path) -> int:
    """How many bytes of a .jsonl file are left when a torn last line is dropped."""
    return _last_line(path)[1]


def _last_line(path: Path) -> tuple[bytes, int]:
    """The last line that has an end, empty if there is none, and where in the file it ends."""
    with _opened(path) as file:
        start, tail = file.seek(0, os.SEEK_END), b""
        while start > 0 and tail.count(b"\n") < 2:  # the end of the last line, and of the one before it
            step = min(_BLOCK_BYTES, start)
            start -= step
            file.seek(start)
            tail = file.read(step) + tail
    whole = tail[: tail.rfind(b"\n") + 1]
    return whole[whole.rfind(b"\n", 0, -1) + 1 :], start + len(whole)


def _opened(path: Path) -> BinaryIO:
    """The file, or an empty one if there is none yet."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return io.BytesIO()
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be read ({error.strerror}); it should be a file that you may read"
        ) from error


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
    """The row on a line; None if it is not a JSON object."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
