"""The streams of a run folder by name: where each is, and of what its rows are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from respawn.contracts.records import (
    Beat,
    EpisodeReport,
    EvaluationReport,
    Event,
    Probe,
    Record,
    ResourceReport,
    Ruling,
    UpdateReport,
)
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_rows
from respawn.runs.rows import KINDS, ROW, Row


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream."""

    record: type[Record]
    path_in: Callable[[RunFolder], Path]

    @property
    def kind(self) -> str:
        """What its rows say that they are."""
        return KINDS[self.record]


STREAMS: Mapping[str, Stream] = {
    "updates": Stream(UpdateReport, lambda folder: folder.updates),
    "episodes": Stream(EpisodeReport, lambda folder: folder.episodes),
    "evaluations": Stream(EvaluationReport, lambda folder: folder.evaluations),
    "probes": Stream(Probe, lambda folder: folder.probes),
    "rulings": Stream(Ruling, lambda folder: folder.rulings),
    "events": Stream(Event, lambda folder: folder.events),
    "heartbeats": Stream(Beat, lambda folder: folder.heartbeats),
    "resources": Stream(ResourceReport, lambda folder: folder.resources),
}

ROW_STREAMS = frozenset({"updates", "episodes", "evaluations", "probes", "rulings"})
"""Those that a resumed run continues exactly, so that checkpoints know their rows; the others are history."""


def row_streams(folder: RunFolder) -> dict[str, Path]:
    """The files of the streams that a resumed run continues, by name."""
    return {name: STREAMS[name].path_in(folder) for name in sorted(ROW_STREAMS)}


def rows_of(folder: RunFolder, stream: str) -> Iterator[Row]:
    """All rows of a stream, in order, each with its kind; older runs have rows that do not say it."""
    kind, path = STREAMS[stream].kind, STREAMS[stream].path_in(folder)
    for place, row in read_rows(path):
        said = row.get(ROW, kind)
        if said != kind:
            raise RunFolderError(f"{place} should be a row of kind {kind!r}, but is a {said!r}; repair it")
        yield {ROW: kind, **row}
