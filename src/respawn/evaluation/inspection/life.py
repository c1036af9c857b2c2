"""Whether a run is alive, and when it last gave a sign of it."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from respawn.contracts.records import Beat
from respawn.errors import RunFolderError
from respawn.evaluation.inspection.salvage import Salvage, config_number
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import last_row
from respawn.runs.rows import Row, from_row

MISSED_BEATS = 3
"""After so many beats that did not come, the heart is said to stand still."""
LEAST_SILENCE_SECONDS = 60.0
"""Nothing is wrong with a run that says nothing for a minute."""
_BEAT_SECONDS = 30.0


@dataclass(frozen=True)
class Life:
    """Signs of life."""

    status: str
    """as in status.json, or killed; broken: that cannot be read, and no process holds the run"""
    goal_reached: bool
    cause: str | None
    """why it failed or was stopped, as status.json has it"""
    failure_line: str | None
    """the last line of failure.txt"""
    pid: int | None
    host: str | None
    is_alive: bool
    """a process holds the run"""
    process_state: str | None
    """as the system calls it: running, sleeping, stopped; None: it is elsewhere, or gone"""
    suspended_children: tuple[int, ...]
    """workers and actors that somebody stopped"""
    ages_seconds: dict[str, float | None]
    """how long ago the last row, beat, event, evaluation came"""
    beat: Beat | None
    """the last one; None: there is none, as in runs of older versions"""
    is_stalled: bool
    """the last beat says that nothing moves"""
    is_silent: bool
    """it is alive, and the sign of life that is due has not come"""
    last_update: int | None
    last_decisions: int | None
    last_row_seconds: float | None
    """since 1970, when the newest row of updates was made; None: it does not say"""


def read_life(folder: RunFolder, config: dict[str, Any], salvage: Salvage, now: float) -> Life:
    """Look for signs of life.

    Args:
      folder: the run.
      config: its settings.
      salvage: takes note of what cannot be read.
      now: seconds since 1970.
    """
    status = read_status(folder)
    if status.problem:
        salvage.note(status.problem)
    update = _last_row(folder.updates) or {}
    beat_row = _last_row(folder.heartbeats)
    last_event = _last_row(folder.events)
    beat = _beat(beat_row)
    ages = {
        "row": _age(update.get("time/unix"), folder.updates, now),
        "beat": _age(_seconds((beat_row or {}).get("time")), folder.heartbeats, now) if beat_row else None,
        "event": _age(_seconds((last_event or {}).get("time")), folder.events, now),
        "evaluation": _age(None, folder.evaluations, now),
    }
    is_alive = status.status == "running"
    holder = _holder(folder, status.facts) if is_alive else status.facts
    process = _process(holder) if is_alive else None
    return Life(
        status=status.status,
        goal_reached=bool(status.facts.get("goal_reached")),
        cause=_one_line(status.facts.get("cause")),
        failure_line=_last_line(folder.failure),
        pid=holder.get("pid"),
        host=holder.get("host"),
        is_alive=is_alive,
        process_state=None if process is None else _state_of(process),
        suspended_children=() if process is None else _suspended(process),
        ages_seconds=ages,
        beat=beat,
        is_stalled=is_alive and beat is not None and beat.is_stalled,
        is_silent=is_alive and _is_silent(ages, beat, update, config),
        last_update=update.get("update"),
        last_decisions=update.get("decisions"),
        last_row_seconds=_number(update.get("time/unix")),
    )


def _last_row(path: Path) -> Row | None:
    """The last row, if it can be read; if not, whoever reads the whole stream takes note of it."""
    try:
        return last_row(path)
    except RunFolderError:
        return None


def _holder(folder: RunFolder, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Who holds a run that is alive: whoever takes one up holds it before status.json says so."""
    try:
        return read_json_object(folder.lock_holder)
    except RunFolderError:
        return facts


def _beat(row: Row | None) -> Beat | None:
    try:
        return None if row is None else from_row(Beat, row)
    except (KeyError, TypeError, ValueError):
        return None  # another version's, which says nothing that we understand


def _is_silent(
    ages: Mapping[str, float | None], beat: Beat | None, update: Mapping[str, Any], config: dict[str, Any]
) -> bool:
    every = config_number(config, "observers", "heartbeat_seconds", _BEAT_SECONDS)
    if beat is not None and every > 0:
        # By the youngest of all signs: the clock may have been set since the last beat, and rows go on to come.
        youngest = min(age for age in (ages["beat"], ages["row"], ages["event"]) if age is not None)
        return youngest > max(MISSED_BEATS * every, LEAST_SILENCE_SECONDS)
    # Without beats: by the pace of its rows, in which evaluations and checkpoints also have their place.
    usual = float(update.get("time/update_seconds", LEAST_SILENCE_SECONDS))
    return (ages["row"] or 0.0) > max(20 * usual, 5 * LEAST_SILENCE_SECONDS)


def _process(holder: Mapping[str, Any]) -> psutil.Process | None:
    """The process, if it is one of this machine's."""
    if holder.get("host") != socket.gethostname() or not isinstance(holder.get("pid"), int):
        return None
    try:
        return psutil.Process(holder["pid"])
    except psutil.Error:
        return None


def _state_of(process: psutil.Process) -> str | None:
    try:
        return str(process.status())
    except psutil.Error:
        return None


def _suspended(process: psutil.Process) -> tuple[int, ...]:
    try:
        children = process.children(recursive=True)
    except psutil.Error:
        return ()
    return tuple(child.pid for child in children if _state_of(child) == psutil.STATUS_STOPPED)


def _age(seconds: Any, path: Path, now: float) -> float | None:
    """How long ago something happened; where it does not say, when its file was last written to."""
    if isinstance(seconds, int | float):
        return max(0.0, now - seconds)
    try:
        stat = path.stat()
    except OSError:
        return None
    return max(0.0, now - stat.st_mtime) if stat.st_size else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _seconds(time: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(time)).timestamp()
    except ValueError:
        return None


def _one_line(text: Any) -> str | None:
    return None if text is None else " ".join(str(text).split())


def _last_line(path: Path) -> str | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.strip() for line in reversed(lines) if line.strip()), None)
