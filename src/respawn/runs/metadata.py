"""What a run is (`meta.json`) and how it is doing (`status.json`). Never holds environment variables."""

import os
import platform
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from importlib import metadata as packages
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import psutil

from respawn.errors import RunFolderError
from respawn.runs.json_files import read_json_object, write_json_atomically, write_json_even_without_room
from respawn.runs.layout import RunFolder

WrittenStatus: TypeAlias = Literal["running", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What meta.json says.

    It is written when the run begins and, where the world then turns out not to resume exactly, once more before the
    first update, to say so. After that it does not change.
    """

    id: str
    name: str
    preset: str
    world: str
    seed: int
    created: str
    command: tuple[str, ...]
    exact_resume: bool
    exact_resume_note: str
    """why a resumed run is not bit for bit the same; empty when it is"""
    git_commit: str | None
    machine: Mapping[str, Any]
    weights_from: Mapping[str, Any] | None = None
    """whose weights it began with, if not with fresh ones: run, checkpoint, updates, decisions, weights_sha256"""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """What status.json says, corrected by whether somebody is really at work."""

    status: Literal["running", "finished", "stopped", "failed", "killed", "broken"]
    """broken: status.json cannot be read, and nobody is at work"""
    time: str | None
    """when it was written, ISO-8601 UTC; None: the run never came so far"""
    facts: Mapping[str, Any]
    problem: str = ""
    """why status.json cannot be read, if it cannot"""


def new_meta(
    name: str, preset: str, world: str, seed: int, *, exact_resume: bool = True, exact_resume_note: str = ""
) -> RunMeta:
    """The description of a run that begins now, on this machine, by this command line."""
    return RunMeta(
        id=str(uuid.uuid4()),
        name=name,
        preset=preset,
        world=world,
        seed=seed,
        created=utc_now(),
        command=tuple(sys.argv),
        exact_resume=exact_resume,
        exact_resume_note=exact_resume_note,
        git_commit=git_commit(Path.cwd()),
        machine=describe_machine(),
    )


def write_meta(folder: RunFolder, meta: RunMeta) -> None:
    """Write meta.json."""
    write_json_atomically(folder.meta, asdict(meta))


def read_meta(folder: RunFolder) -> RunMeta:
    """Read meta.json; fields that a later version added are passed over, and those that an older one lacks left out."""
    data = read_json_object(folder.meta)
    missing = [field.name for field in fields(RunMeta) if field.default is MISSING and field.name not in data]
    if missing:
        raise RunFolderError(f"{folder.meta} lacks {', '.join(missing)}; restore it from a copy")
    said = {field.name: data[field.name] for field in fields(RunMeta) if field.name in data}
    odd = [field.name for field in fields(RunMeta) if field.type is str and not isinstance(said[field.name], str)]
    if odd or not isinstance(said["command"], list):
        wrong = ", ".join(odd) or "command"
        raise RunFolderError(f"{folder.meta} does not say {wrong} as it should; restore it from a copy")
    said["command"] = tuple(said["command"])
    return RunMeta(**said)


def write_status(folder: RunFolder, status: WrittenStatus, **facts: str | int | float | bool | None) -> None:
    """Write status.json: the status, when and by whom, and whatever else is worth knowing at a glance."""
    said_by = {"status": status, "time": utc_now(), "pid": os.getpid(), "host": socket.gethostname()}
    taken = sorted(set(said_by) & set(facts))
    if taken:
        raise RunFolderError(f"status.json has its own {', '.join(taken)}; call the fact something else")
    write_json_even_without_room(folder.status, {**said_by, **facts})


def read_status(folder: RunFolder) -> RunStatus:
    """How a run is; one that is said to be running while nobody holds its lock was killed.

    Where status.json cannot be read, the lock alone says whether the run goes on.
    """
    if not folder.status.exists():
        return RunStatus("running" if folder.is_locked() else "killed", None, {})
    try:
        status, data = _written_status(folder)
        if status == "running" and not folder.is_locked():
            # Asked again: a run that ends between our two looks is finished, not killed.
            again, data = _written_status(folder)
            return RunStatus("killed" if again == "running" else again, data.pop("time", None), data)
    except RunFolderError as error:
        return RunStatus("running" if folder.is_locked() else "broken", None, {}, str(error))
    return RunStatus(status, data.pop("time", None), data)


def _written_status(folder: RunFolder) -> tuple[WrittenStatus, dict[str, Any]]:
    """What status.json says, and the rest of it."""
    data = read_json_object(folder.status)
    status = data.pop("status", None)
    if status not in get_args(WrittenStatus):
        known = ", ".join(get_args(WrittenStatus))
        raise RunFolderError(f"{folder.status} should say one of {known}, but says {status!r}; delete it")
    return status, data


def utc_now() -> str:
    """The time as ISO-8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def describe_machine() -> dict[str, Any]:
    """The hardware and the versions that a number measured here depends on."""
    return {
        "host": socket.gethostname(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": _gpu_names(),
        "os": platform.platform(),
        "python": platform.python_version(),
        **{package: _version(package) for package in ("torch", "numpy", "gymnasium", "respawn")},
    }


def git_commit(directory: Path) -> str | None:
    """The commit checked out in `directory`, with '-dirty' after it if files were changed; None if there is none."""
    command = ["git", "--no-optional-locks", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    return _output(command, directory)


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _gpu_names() -> list[str]:
    # Not asked through torch: that would take memory on the GPU even for a run that never uses it.
    names = _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], None)
    return names.splitlines() if names else []


def _version(package: str) -> str | None:
    try:
        return packages.version(package)
    except packages.PackageNotFoundError:
        return None


def _output(command: list[str], directory: Path | None) -> str | None:
    """What a command prints, or None if it is not there, fails, or takes its time."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run([program, *command[1:]], cwd=directory, capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", errors="replace").strip() or None
