"""Which checkpoint a word on the command line means."""

import re
from dataclasses import dataclass
from pathlib import Path

from respawn.checkpoints.resumption import check_nothing_is_lost
from respawn.checkpoints.store import find_best, find_newest, saved
from respawn.cli.wording import command_for
from respawn.errors import CheckpointError, ConfigError, RunFolderError
from respawn.evaluation.inspection.inspect import find_even_damaged
from respawn.runs.layout import RunFolder

_MANIFEST = "manifest.json"
_MOST_NAMED = 5


@dataclass(frozen=True)
class NamedCheckpoint:
    """A checkpoint, and the run that it is of, where it lies in one."""

    path: Path
    folder: RunFolder | None
    passed_over: tuple[str, ...] = ()
    """newer or better ones that are damaged, and how"""

    @property
    def title(self) -> str:
        """What to call it."""
        return self.path.name if self.folder is None else f"{self.path.name} of run {self.folder.name}"


def split_name(word: str) -> tuple[str, str]:
    """The run, and which of its checkpoints; empty: it is not said. A path may have an @ in one of its folders."""
    name, at, which = word.rpartition("@")
    if not at or "/" in which or Path(word).exists():
        return word, ""
    if not name or not which:
        raise ConfigError(f"a checkpoint is named RUN@NAME, as in pole@u00000100 or pole@best, and '{word}' came")
    return name, which


def checkpoint_at(path: Path) -> NamedCheckpoint | None:
    """The checkpoint whose folder a path names, or a file in it; None: it names nothing of the kind."""
    folder = path.parent if path.is_file() else path
    if folder.name in ("", ".."):
        folder = folder.resolve()
    is_one = (folder / _MANIFEST).is_file() or re.fullmatch(r"(damaged-)?u\d{8}(-\d+)?", folder.resolve().name)
    if not folder.is_dir() or not is_one:
        return None
    whole = folder.resolve()
    run = RunFolder(folder.parent.parent if len(folder.parts) > 2 else whole.parent.parent)
    in_run = whole.parent.name == "checkpoints" and is_run(run.path)
    return NamedCheckpoint(folder, run if in_run else None)


def is_run(path: Path) -> bool:
    """Whether a run's folder lies there, if perhaps a damaged one."""
    folder = RunFolder(path)
    return any(file.is_file() for file in (folder.meta, folder.config, folder.status))


def find_run(runs_dir: Path, name: str) -> RunFolder:
    """The run of this name or at this path, though its own description may be unreadable."""
    if not is_run(runs_dir / name) and Path(name).is_file():
        raise RunFolderError(
            f"a run, RUN@NAME or a checkpoint's folder is wanted, and {name} is a file of another kind"
        )
    return find_even_damaged(runs_dir, name)


def find_checkpoint(runs_dir: Path, word: str) -> NamedCheckpoint:
    """The checkpoint that `RUN`, `RUN@NAME` or a path means."""
    name, which = split_name(word)
    if not which and not is_run(runs_dir / name):
        at_path = checkpoint_at(Path(name))
        if at_path is not None:
            return at_path
    folder = find_run(runs_dir, name)
    if which in ("", "newest"):
        found = find_newest(folder.checkpoints)
    elif which == "best":
        from respawn.training.recorded import load_config

        found = find_best(folder.checkpoints, load_config(folder).checkpoints)
    else:
        return NamedCheckpoint(_of_name(folder, which), folder)
    if found is None:
        raise no_checkpoint(folder)
    return NamedCheckpoint(found.path, folder, found.passed_over)


def no_checkpoint(folder: RunFolder) -> CheckpointError:
    """That a run has none, and what to do."""
    try:
        check_nothing_is_lost(folder)
    except CheckpointError as error:
        return error
    command = command_for("resume", folder)
    return CheckpointError(
        f"run {folder.name} has no checkpoint in {folder.checkpoints}; train it first, with: {command}"
    )


def _of_name(folder: RunFolder, which: str) -> Path:
    """The checkpoint of a name, or of an update; also one that was set aside as damaged."""
    for name in (which, f"u{which:0>8}") if which.isdigit() else (which,):
        path = folder.checkpoints / name
        if not name.startswith(".") and path.is_dir():
            return path
    names = [path.name for path in reversed(saved(folder.checkpoints))]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    there = f"the newest are: {', '.join(names[:_MOST_NAMED])}{more}" if names else "it has none"
    raise RunFolderError(f"run {folder.name} has no checkpoint '{which}'; {there}")
