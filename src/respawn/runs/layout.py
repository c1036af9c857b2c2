"""Where everything in a run folder is, and how run folders are made, found and held. What the files say is not here."""

import contextlib
import difflib
import errno
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from respawn.errors import RunFolderError
from respawn.runs.json_files import read_json_object, write_json_atomically

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")  # a leading dot would hide the folder, or be '..'
_LOCK_PATIENCE_SECONDS = 0.2  # long enough to outlast another process that only asks whether the run is in use


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run's folder; every path in it is named here and nowhere else."""

    path: Path

    @property
    def name(self) -> str:
        """The run's name, which is the folder's."""
        return self.path.resolve().name

    @property
    def meta(self) -> Path:
        """What the run is: written when it begins, and not changed after that."""
        return self.path / "meta.json"

    @property
    def config(self) -> Path:
        """The whole configuration of the run."""
        return self.path / "config.json"

    @property
    def status(self) -> Path:
        """How the run is doing."""
        return self.path / "status.json"

    @property
    def updates(self) -> Path:
        """One row for each update."""
        return self.path / "updates.jsonl"

    @property
    def episodes(self) -> Path:
        """One row for each finished episode."""
        return self.path / "episodes.jsonl"

    @property
    def evaluations(self) -> Path:
        """One row for each evaluation."""
        return self.path / "evaluations.jsonl"

    @property
    def probes(self) -> Path:
        """Evaluations in full, where a world has more to tell of them than numbers."""
        return self.path / "probes.jsonl"

    @property
    def rulings(self) -> Path:
        """What schedules concluded, and on what grounds."""
        return self.path / "rulings.jsonl"

    @property
    def events(self) -> Path:
        """One row for each thing worth knowing that happened once."""
        return self.path / "events.jsonl"

    @property
    def heartbeats(self) -> Path:
        """A sign of life every so often, and where the run was."""
        return self.path / "heartbeats.jsonl"

    @property
    def resources(self) -> Path:
        """What the run and its machine used, sampled at even intervals."""
        return self.path / "resources.jsonl"

    @property
    def latest(self) -> Path:
        """The newest row of updates.jsonl, as a Parquet file."""
        return self.path / "latest.parquet"

    @property
    def traces(self) -> Path:
        """What every thread was doing when the run stood still, or was slow again and again."""
        return self.path / "traces"

    @property
    def faults(self) -> Path:
        """The batches of updates that made numbers that are not finite."""
        return self.path / "faults"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's own files."""
        return self.path / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        """What the run can be resumed from."""
        return self.path / "checkpoints"

    @property
    def workers(self) -> Path:
        """What worker processes left behind for a diagnosis."""
        return self.path / "workers"

    @property
    def videos(self) -> Path:
        """Films and figures of the run's policy, and its games as controller movies."""
        return self.path / "videos"

    @property
    def media(self) -> Path:
        """Films that are part of the run's record: how its curve grew, and its worst schools of fish."""
        return self.path / "media"

    @property
    def failure(self) -> Path:
        """The traceback of what last made the run fail."""
        return self.path / "failure.txt"

    @property
    def lock_file(self) -> Path:
        """The file whose lock says that a process is at work on this run."""
        return self.path / "run.lock"

    @property
    def lock_holder(self) -> Path:
        """Who took the lock last; a file of its own, since a process that fails to take the lock may empty it."""
        return self.path / "run.lock.json"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for this process; the operating system lets go of it even on kill -9."""
        lock = FileLock(str(self.lock_file), timeout=_LOCK_PATIENCE_SECONDS, thread_local=False)
        try:
            lock.acquire(poll_interval=0.02)
            self._sign_lock()
        except Timeout:
            raise RunFolderError(f"run {self.name} is in use by {self._holder()}; wait for it or stop it") from None
        except OSError as error:
            lock.release()
            raise RunFolderError(
                f"run {self.name} cannot be locked ({error}); its folder must be writable and its disk must have room"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def is_locked(self) -> bool:
        """Whether some process, this one included, holds the run now."""
        if not self.lock_file.exists():
            return False
        try:
            with FileLock(str(self.lock_file), timeout=0, thread_local=False):
                return False
        except Timeout:
            return True
        except OSError:  # somebody else's folder, which we may read and not lock
            return False

    def _sign_lock(self) -> None:
        holder = {"pid": os.getpid(), "host": socket.gethostname()}
        self.lock_holder.write_text(json.dumps(holder) + "\n", encoding="utf-8")

    def _holder(self) -> str:
        try:
            holder = read_json_object(self.lock_holder)
            return f"process {holder['pid']} on {holder['host']}"
        except (RunFolderError, KeyError):
            return "another process"


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One entry of `list_runs`."""

    folder: RunFolder
    last_activity: float
    """seconds since 1970 at which a file of the run last changed"""
    problem: str | None
    """what is wrong with the folder; None: nothing is"""


def create(runs_dir: Path, name: str, meta: Mapping[str, Any], config: Mapping[str, Any]) -> RunFolder:
    """Make a new run folder, whole from its first moment; one that exists already is never taken over."""
    check_name(name)
    folder = RunFolder(runs_dir / name)
    # Made under another name first: a process killed on the way leaves nothing that looks like a run.
    aside = RunFolder(runs_dir / f".making-{name}-{os.getpid()}")
    try:
        aside.path.mkdir(parents=True)
        aside.checkpoints.mkdir()
        aside.workers.mkdir()
        write_json_atomically(aside.meta, meta)
        write_json_atomically(aside.config, config)
        if folder.path.exists():
            raise _taken(folder)
        aside.path.rename(folder.path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # somebody else made one between our look and our rename
            raise _taken(folder) from error
        raise RunFolderError(f"the run folder {folder.path} cannot be made ({error}); pick another place") from error
    finally:
        shutil.rmtree(aside.path, ignore_errors=True)
    return folder


def check_name(name: str) -> None:
    """Raise RunFolderError if no run can be called `name`."""
    if not _NAME.fullmatch(name):
        raise RunFolderError(
            f"a run's name is made of 1 to 128 letters, digits, '.', '_' and '-' and does not begin with '.', "
            f"but {name!r} came; pick another --name"
        )


def _taken(folder: RunFolder) -> RunFolderError:
    return RunFolderError(f"a new run needs a new folder, but {folder.path} exists; resume it or pick another --name")


def find(runs_dir: Path, name: str) -> RunFolder:
    """The run called `name` under `runs_dir`, or the run folder at the path `name`; it is whole, or this raises."""
    for path in (runs_dir / name, Path(name)):
        if name and path.is_dir():
            folder = RunFolder(path)
            problem = problem_of(folder)
            if problem is not None:
                raise RunFolderError(f"{path} cannot be used as a run: {problem}")
            return folder
    raise RunFolderError(
        f"there is no run {name!r} in {runs_dir.absolute()}; {_what_is_there(runs_dir, name)}; "
        "or name the folder that holds it with --runs DIR"
    )


def list_runs(runs_dir: Path) -> list[ListedRun]:
    """All run folders under `runs_dir`, the one with the most recent activity first, broken ones included."""
    if not runs_dir.is_dir():
        return []
    folders = [RunFolder(path) for path in runs_dir.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)]
    listed = [ListedRun(folder, _last_activity(folder), problem_of(folder)) for folder in folders]
    return sorted(listed, key=lambda run: (-run.last_activity, run.folder.name))


def default_name(preset: str, seed: int, runs_dir: Path) -> str:
    """A name that says what the run is and is not taken, such as `cartpole-ppo-s1-20261116-104500`."""
    stem = f"{preset}-s{seed}-{datetime.now():%Y%m%d-%H%M%S}"
    name, number = stem, 1
    while (runs_dir / name).exists():
        number += 1
        name = f"{stem}-{number}"
    return name


def problem_of(folder: RunFolder) -> str | None:
    """Why a folder cannot be used as a run; None: it can."""
    if not folder.meta.exists() and not folder.config.exists():
        return "it has neither meta.json nor config.json; is this a run folder?"
    try:
        meta = read_json_object(folder.meta)
        read_json_object(folder.config)
    except RunFolderError as error:
        return str(error)
    missing = [key for key in ("id", "name", "created") if key not in meta]
    return f"{folder.meta} lacks {', '.join(missing)}" if missing else None


def _last_activity(folder: RunFolder) -> float:
    newest = 0.0
    for path in (folder.path, folder.status, folder.updates, folder.events, folder.evaluations, folder.checkpoints):
        with contextlib.suppress(OSError):
            newest = max(newest, path.stat().st_mtime)
    return newest


def _what_is_there(runs_dir: Path, name: str) -> str:
    runs = [run.folder.name for run in list_runs(runs_dir) if run.problem is None]
    if not runs:
        return "there are no runs yet: begin one with 'respawn train'"
    close = difflib.get_close_matches(name, runs, n=3, cutoff=0.5)
    newest = ", ".join(runs[:5]) + (f" and {len(runs) - 5} more" if len(runs) > 5 else "")
    return f"did you mean {' or '.join(close)}? The newest are: {newest}" if close else f"the newest are: {newest}"
