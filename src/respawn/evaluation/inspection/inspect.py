"""A run looked at from all sides. Works on one that goes on, that was killed, that is damaged, and on old ones."""

import os
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from respawn.checkpoints.verification import Surroundings
from respawn.errors import RunFolderError
from respawn.evaluation.inspection.happenings import Evidence, Happenings, find_evidence, sort_events
from respawn.evaluation.inspection.keeping import Keeping, look_at_checkpoints
from respawn.evaluation.inspection.life import Life, read_life
from respawn.evaluation.inspection.pace import Pace, measure_pace
from respawn.evaluation.inspection.salvage import Salvage, read_config
from respawn.evaluation.inspection.wear import Began, Wear, measure_wear
from respawn.runs.layout import RunFolder, find
from respawn.runs.metadata import read_meta
from respawn.runs.reader import read_beats, read_events, read_resources, read_updates
from respawn.runs.streams import row_streams

INSPECTED_ROWS = 50_000
"""Of each stream, the newest: what goes wrong now shows there, and millions of rows take minutes to read."""


@dataclass(frozen=True)
class Inspection:
    """All that a run's folder says about how it is."""

    folder: RunFolder
    is_writable: bool
    config: dict[str, Any]
    problems: tuple[str, ...]
    """files that cannot be read, or not to their end"""
    life: Life
    happenings: Happenings
    evidence: Evidence
    pace: Pace
    wear: Wear
    keeping: Keeping
    resumed_seconds_ago: float | None = None
    """None: it never was"""


def find_even_damaged(runs_dir: Path, name: str) -> RunFolder:
    """The run folder of this name, though its own description may be unreadable; raises where there is none."""
    try:
        return find(runs_dir, name)
    except RunFolderError:
        for path in (runs_dir / name, Path(name)):
            folder = RunFolder(path)
            if name and any(file.exists() for file in (folder.meta, folder.config, folder.status, folder.updates)):
                return folder
        raise


def inspect(
    folder: RunFolder,
    now: float | None = None,
    around: Surroundings | None = None,
    rows: int | None = INSPECTED_ROWS,
) -> Inspection:
    """Look at a run.

    Args:
      folder: the run; nothing in it is changed.
      now: seconds since 1970; None: as the clock says.
      around: what its checkpoints are compared with; None: with its rows alone.
      rows: so many of a stream are enough, where the others are archives; None: all are looked at.
    """
    moment = time.time() if now is None else now
    around = Surroundings(streams=row_streams(folder)) if around is None else around
    salvage = Salvage()
    salvage.asked(lambda: read_meta(folder), None)
    config = read_config(folder, salvage)
    if around.settings_problem:
        salvage.note(around.settings_problem)
    life = read_life(folder, config, salvage, moment)
    happenings = sort_events(salvage.rows(read_events(folder)))
    pace = measure_pace(salvage.rows(read_updates(folder, rows)))
    began = Began(
        happenings.resumed[-1].time if happenings.resumed else "",
        clock_went_back=happenings.clock_went_back,
        settled_update=pace.replay_full_update,
    )
    samples, beats = salvage.rows(read_resources(folder, rows)), salvage.rows(read_beats(folder, rows))
    wear = measure_wear(folder, samples, beats, began)
    return Inspection(
        folder=folder,
        is_writable=os.access(folder.path, os.W_OK),
        config=config,
        problems=tuple(salvage.problems),
        life=life,
        happenings=happenings,
        evidence=find_evidence(folder),
        pace=pace,
        wear=wear,
        keeping=look_at_checkpoints(folder, around, moment),
        resumed_seconds_ago=_seconds_ago(began.time, moment),
    )


def _seconds_ago(time: str, now: float) -> float | None:
    try:
        return max(0.0, now - datetime.fromisoformat(time).timestamp())
    except ValueError:
        return None
