"""Choosing the run to resume when none was named: the newest that has something left to do."""

from dataclasses import dataclass
from pathlib import Path

from respawn.checkpoints.store import find_newest, read_part
from respawn.errors import RespawnError, RunFolderError
from respawn.runs.layout import RunFolder, list_runs
from respawn.runs.metadata import read_meta
from respawn.training.config import RunConfig
from respawn.training.goal import goal_was_reached, with_new_limits
from respawn.training.recorded import load_config


@dataclass(frozen=True)
class Choice:
    """Which run, and why that one."""

    folder: RunFolder
    reason: str


@dataclass(frozen=True)
class ReachedLimit:
    """A limit that a run has come to."""

    option: str
    """what sets it"""
    where: str
    """how far the run came, to follow on 'finished'"""


def choose_run(
    runs_dir: Path, *, preset: str | None = None, updates: int | None = None, minutes: float | None = None
) -> Choice:
    """The newest run in `runs_dir` that can go on, to its own limits or to those given.

    Raises:
      RunFolderError: none can; it says why of each.
    """
    passed_over: list[str] = []
    for listed in list_runs(runs_dir):
        obstacle = listed.problem or _obstacle(listed.folder, preset, updates, minutes)
        if obstacle is None:
            skipped = f"; passed over {'; '.join(passed_over)}" if passed_over else ""
            return Choice(listed.folder, f"resuming {listed.folder.name}: the newest run that can go on{skipped}")
        passed_over.append(f"{listed.folder.name} ({obstacle})")
    found = "; ".join(passed_over) or "it holds no runs"
    raise RunFolderError(
        f"nothing to resume in {runs_dir.absolute()}: {found}. Begin a run with 'respawn train', "
        "or name another folder with --runs DIR"
    )


def reached_limit(folder: RunFolder, config: RunConfig) -> ReachedLimit | None:
    """Which limit of `config` the run in `folder` has come to; None if it can go on."""
    found = find_newest(folder.checkpoints)
    if found is None:
        return None
    made, last = found.manifest.updates, config.last_update
    if made >= last:
        return ReachedLimit(
            "--updates", f"at update {made} of {last}" if made == last else f"at update {made}, past {last}"
        )
    if goal_was_reached(found, config.evaluation):
        return ReachedLimit("--updates", f"at update {made}, where its goal was reached")
    if config.minutes is not None:
        minutes = read_part(found.path, found.manifest, "clock")["seconds"] / 60
        if minutes >= config.minutes:
            return ReachedLimit("--minutes", f"after {minutes:.3g} of {config.minutes:g} minutes")
    return None


def _obstacle(folder: RunFolder, preset: str | None, updates: int | None, minutes: float | None) -> str | None:
    """Why a run cannot go on, or None if it can."""
    try:
        if preset is not None and read_meta(folder).preset != preset:
            return f"is not of preset {preset}"
        if folder.is_locked():
            return "is running"
        config = with_new_limits(load_config(folder), find_newest(folder.checkpoints), updates, minutes)
        reached = reached_limit(folder, config)
    except RespawnError as error:
        return str(error)
    return None if reached is None else f"is finished {reached.where}"
