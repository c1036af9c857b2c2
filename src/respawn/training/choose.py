"""Choosing the run to resume when none was named: the newest that has something left to do."""

from dataclasses import dataclass
from pathlib import Path

from respawn.checkpoints.store import find_newest
from respawn.errors import RespawnError, RunFolderError
from respawn.runs.layout import RunFolder, list_runs
from respawn.runs.metadata import read_meta
from respawn.training.launch import load_config


@dataclass(frozen=True)
class Choice:
    """Which run, and why that one."""

    folder: RunFolder
    reason: str


def choose_run(runs_dir: Path, *, preset: str | None, updates: int | None) -> Choice:
    """The newest run in `runs_dir` that can go on; raises RunFolderError saying why none can."""
    passed_over: list[str] = []
    for listed in list_runs(runs_dir):
        obstacle = listed.problem or _obstacle(listed.folder, preset, updates)
        if obstacle is None:
            skipped = f"; passed over {'; '.join(passed_over)}" if passed_over else ""
            return Choice(listed.folder, f"resuming {listed.folder.name}: the newest run that can go on{skipped}")
        passed_over.append(f"{listed.folder.name} ({obstacle})")
    found = "; ".join(passed_over) or "it holds no runs"
    raise RunFolderError(f"nothing to resume in {runs_dir}: {found}. Begin a run with 'respawn train'")


def _obstacle(folder: RunFolder, preset: str | None, updates: int | None) -> str | None:
    """Why a run cannot go on, or None if it can."""
    try:
        if preset is not None and read_meta(folder).preset != preset:
            return f"is not of preset {preset}"
        if folder.is_locked():
            return "is running"
        found = find_newest(folder.checkpoints)
        made = 0 if found is None else found.manifest.updates
        last = load_config(folder).with_limits(updates, None).last_update
    except RespawnError as error:
        return str(error)
    return f"is finished at update {made} of {last}" if made >= last else None
