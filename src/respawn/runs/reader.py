"""Typed streams back from a run folder, also while the run goes on.

A process that is killed may leave half a row at the end of a file. Such a torn last line, which has no end, is as good
as not written and is passed over; any other broken line means that the file was damaged, and is an error.

A stream that grew too large has archives (rotation.py); its rows are read as if it were one file.
"""

import io
import json
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from respawn.contracts.records import (
    Beat,
    EpisodeReport,
    EvaluationReport,
    Event,
    Probe,
    ResourceReport,
    Ruling,
    UpdateReport,
)
from respawn.errors import RunFolderError
from respawn.runs.kept_rows import damage_told
from respawn.runs.layout import RunFolder
from respawn.runs.rotation import ArchiveMissing, archive_numbers, open_archive
from respawn.runs.rows import R, Row, from_row

_BLOCK_BYTES = 1 << 16
_COUNTED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event and when it happened, ISO-8601 UTC."""

    time: str
    event: Event


def read_updates(folder: RunFolder, at_least: int | None = None) -> Iterator[UpdateReport]:
    """All rows of updates.jsonl, in order; or the newest, as `read_rows` has it."""
    return _read(folder.updates, UpdateReport, at_least)


def read_episodes(folder: RunFolder) -> Iterator[EpisodeReport]:
    """All rows of episodes.jsonl, in order."""
    return _read(folder.episodes, EpisodeReport)


def read_evaluations(folder: RunFolder, at_least: int | None = None) -> Iterator[EvaluationReport]:
    """All rows of evaluations.jsonl, in order; or the newest, as `read_rows` has it."""
    return _read(folder.evaluations, EvaluationReport, at_least)


def read_probes(folder: RunFolder) -> Iterator[Probe]:
    """All rows of probes.jsonl, in order."""
    return _read(folder.probes, Probe)


def read_rulings(folder: RunFolder) -> Iterator[Ruling]:
    """All rows of rulings.jsonl, in order."""
    return _read(folder.rulings, Ruling)


def read_events(folder: RunFolder) -> Iterator[TimedEvent]:
    """All rows of events.jsonl, in order."""
    for place, row in read_rows(folder.events):
        yield TimedEvent(str(row.get("time", "")), _decode(place, Event, row))


def read_beats(folder: RunFolder, at_least: int | None = None) -> Iterator[tuple[str, Beat]]:
    """All rows of heartbeats.jsonl, in order, each with its time, ISO-8601 UTC; or the newest, as in `read_rows`."""
    for place, row in read_rows(folder.heartbeats, at_least):
        yield str(row.get("time", "")), _decode(place, Beat, row)


def read_resources(folder: RunFolder, at_least: int | None = None) -> Iterator[tuple[str, ResourceReport]]:
    """All rows of resources.jsonl, in order, each with its time, ISO-8601 UTC; or the newest, as `read_rows` has it."""
    for place, row in read_rows(folder.resources, at_least):
        yield str(row.get("time", "")), _decode(place, ResourceReport, row)


def read_rows(path: Path, at_least: int | None = None) -> Iterator[tuple[str, Row]]:
    """The rows of any .jsonl stream, each with its place: file and line. None if there is no such stream yet.

    Args:
      path: the stream's.
      at_least: leave out the oldest of its files where the others have so many rows; None: read all.
    """
    archives, newest = _files_of(path)
    with newest:
        if at_least is not None:
            archives = _newest_of(archives, newest, path, at_least)
        for archive in archives:
            try:
                file = open_archive(path, archive)
            except ArchiveMissing:
                if archive < min(archive_numbers(path), default=0):
                    continue  # the oldest are deleted where not all are kept, also while somebody reads
                raise
            with file:
                yield from _rows(file, path)
        yield from _rows(newest, path)


def _newest_of(archives: list[int], newest: BinaryIO, path: Path, at_least: int) -> list[int]:
    """Those that it takes to have so many rows with what came after them. Counting lines costs little."""
    rows = _count_lines(newest)
    newest.seek(0)
    for at in reversed(range(len(archives))):
        if rows >= at_least:
            return archives[at + 1 :]
        try:
            with open_archive(path, archives[at]) as file, damage_told(f"an archive of {path}"):
                rows += _count_lines(file)
        except ArchiveMissing:
            return archives[at + 1 :]  # the oldest that are left are deleted just now
        except RunFolderError:
            return archives  # whoever reads rows is told of the damage, once those before it were read
    return archives


def _count_lines(file: IO[bytes]) -> int:
    return sum(block.count(b"\n") for block in iter(lambda: file.read(_COUNTED_BYTES), b""))


def _files_of(path: Path) -> tuple[list[int], BinaryIO]:
    """The numbers of a stream's archives, and what came after them, opened: between the two nothing is lost.

    Raises:
      ArchiveMissing: one between others is not there. Only the oldest are ever deleted on purpose.
    """
    while True:
        before = archive_numbers(path)
        newest = _opened(path)
        if archive_numbers(path) != before:
            newest.close()  # a file became an archive meanwhile
            continue
        absent = set(range(before[0], before[-1])) - set(before) if before else ()
        if absent:
            newest.close()
            with open_archive(path, min(absent)):  # raises, unless it was only being renamed while we looked
                continue
        return before, newest


def _rows(file: IO[bytes], path: Path) -> Iterator[tuple[str, Row]]:
    name = getattr(file, "name", path)
    with damage_told(f"an archive of {path}"):
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            row, place = _parse(line), f"{name}, line {number}"
            if row is None:
                raise RunFolderError(
                    f"{place} should be a JSON object; put the file back from a copy, or repair that line"
                )
            yield place, row


def last_row(path: Path) -> Row | None:
    """The last whole row of a .jsonl stream, read from the end; None if there is none."""
    line, _ = _last_line(path)
    if not line and (archives := archive_numbers(path)):  # just set aside: an archive ends with a whole row
        with open_archive(path, archives[-1]) as file, damage_told(f"an archive of {path}"):
            line = b"".join(deque(file, maxlen=1))
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


def _read(path: Path, kind: type[R], at_least: int | None = None) -> Iterator[R]:
    for place, row in read_rows(path, at_least):
        yield _decode(place, kind, row)


def _decode(place: str, kind: type[R], row: Row) -> R:
    try:
        return from_row(kind, row)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise RunFolderError(
            f"{place} should be one {kind.__name__}, but has {type(error).__name__}: {error}; repair it"
        ) from error


def _parse(line: bytes) -> Row | None:
    """The row on a line; None if it is not a JSON object."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
