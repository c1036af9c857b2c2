"""Which checkpoints a run has, and whether they, and the rows that they know of, are whole."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from respawn.checkpoints.store import saved, verify
from respawn.errors import CheckpointAccessError, CheckpointError, RunFolderError
from respawn.runs.kept_rows import RowsLetGo, check_kept
from respawn.runs.layout import RunFolder

_OBSERVERS = "observers.json"
"""The part of a checkpoint that says how long each stream was."""


@dataclass(frozen=True)
class Keeping:
    """What a run can be resumed from."""

    whole: tuple[str, ...]
    """oldest first"""
    damaged: dict[str, str]
    """what is wrong with each, by name"""
    unusable: dict[str, str]
    """why each cannot be read though it is not damaged, by name: a newer version's, or somebody else's"""
    set_aside: tuple[str, ...]
    """damaged ones that a resume moved out of the way"""
    half_written: tuple[str, ...]
    newest_update: int | None
    """of the newest whole one"""
    newest_age_seconds: float | None
    rows_not_kept: tuple[str, ...]
    """streams that lack rows of the newest whole one: resuming would refuse to go on"""
    newest_with_rows: str | None
    """the newest whole one whose rows are all there"""


def look_at_checkpoints(folder: RunFolder, now: float) -> Keeping:
    """Read every file of every checkpoint, and the rows that the newest knows of.

    Args:
      folder: the run.
      now: seconds since 1970.
    """
    whole: list[Path] = []
    damaged, unusable = {}, {}
    newest, age = None, None
    for path in saved(folder.checkpoints):
        try:
            manifest = verify(path)
        except CheckpointAccessError as error:
            unusable[path.name] = str(error)
            continue
        except CheckpointError as error:
            if path.exists():  # else it was deleted while we looked, as a run that goes on does
                damaged[path.name] = str(error)
            continue
        whole.append(path)
        newest, age = manifest.updates, max(0.0, now - datetime.fromisoformat(manifest.saved_at).timestamp())
    not_kept = [_rows_not_kept(folder, path) for path in whole[-1:]]
    with_rows = whole[-1] if not_kept == [()] else _newest_with_rows(folder, whole[:-1])
    return Keeping(
        whole=tuple(path.name for path in whole),
        damaged=damaged,
        unusable=unusable,
        set_aside=_names(folder, "damaged-*"),
        half_written=_names(folder, ".writing-*"),
        newest_update=newest,
        newest_age_seconds=age,
        rows_not_kept=not_kept[0] if not_kept else (),
        newest_with_rows=with_rows.name if with_rows is not None else None,
    )


def _newest_with_rows(folder: RunFolder, checkpoints: list[Path]) -> Path | None:
    return next((path for path in reversed(checkpoints) if not _rows_not_kept(folder, path)), None)


def _rows_not_kept(folder: RunFolder, checkpoint: Path) -> tuple[str, ...]:
    """What is wrong with the streams that a resume continues exactly."""
    try:
        known = json.loads((checkpoint / _OBSERVERS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()  # it was deleted while we looked, as a run that goes on does
    streams = (folder.updates, folder.episodes, folder.evaluations, folder.probes, folder.rulings)
    problems = []
    for path in streams:
        try:
            if path.stem in known:
                check_kept(path, known[path.stem])
        except RowsLetGo:
            continue  # on purpose
        except RunFolderError as error:
            problems.append(str(error))
    return tuple(problems)


def _names(folder: RunFolder, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.checkpoints.glob(pattern)))
