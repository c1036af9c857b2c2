"""Many trials of worlds, each in a process of its own that is watched, ended with its children, judged by a file."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from respawn.processes.marks import read_from
from respawn.runs.json_files import write_json_atomically
from respawn.training.world_backends import TrialPlan, shim_folder

LOOK_SECONDS = 0.25
GRACE_SECONDS = 3.0
"""for processes that end by themselves once their parent is gone"""
STACK_SECONDS = 0.5
TOP_ERRORS = 10
REPORT, SUMMARY = "report.jsonl", "summary.json"
_TIMES = ("construct_seconds", "reset_seconds", "step_seconds", "duration_seconds")

Record = dict[str, Any]


def run_trials(plans: Sequence[TrialPlan], out: Path, tell: Callable[[Record], None]) -> list[Record]:
    """Carry out the plans one after the other; a line of the report each, written as soon as it is known.

    Args:
      plans: what to try.
      out: a folder for the report, the summary and the diagnostics of trials that failed.
      tell: is told each record.
    """
    out.mkdir(parents=True, exist_ok=True)
    records: list[Record] = []
    try:
        for plan in plans:
            record = run_trial(plan, out / f"{plan.backend}-{plan.trial:03d}")
            with (out / REPORT).open("a", encoding="utf-8") as report:
                report.write(json.dumps(record) + "\n")
            tell(record)
            records.append(record)
    except KeyboardInterrupt as stop:
        stop.add_note(f"after {len(records)} of {len(plans)} trials; their report and summary are in {out}")
        raise
    finally:
        write_json_atomically(out / SUMMARY, summarize(records))
    return records


def run_trial(plan: TrialPlan, folder: Path) -> Record:
    """One trial. Its folder stays if it failed, with marks, stacks and output of all its processes."""
    folder.mkdir(parents=True)
    write_json_atomically(folder / "plan.json", asdict(plan))
    timestamp = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    began = time.monotonic()
    how_it_ended, left_behind = _carry_out(plan, folder)
    result = _parsed(folder / "result.json")
    error = _error(result, how_it_ended, left_behind, folder)
    record = {
        "timestamp": timestamp,
        "trial": plan.trial,
        "backend": plan.backend,
        "num_lanes": plan.num_lanes,
        "workers": plan.workers,
        "seed": plan.seed,
        "steps": plan.steps,
        "construct_seconds": None,
        "reset_seconds": None,
        "step_seconds": None,
        "steps_done": _steps_by_marks(folder),
        "episodes": 0,
        "ends": {},
        **(result or {}),
        "duration_seconds": time.monotonic() - began,
        "ok": error is None,
        "error": error,
        "diagnostics": None if error is None else str(folder),
    }
    if error is None:
        shutil.rmtree(folder)
    return record


def _carry_out(plan: TrialPlan, folder: Path) -> tuple[str, int]:
    """Start the process and await its end. Returns how it went, and how many of its children had to be ended."""
    family: set[psutil.Process] = set()
    process, lifeline_end = _started(folder)
    try:
        deadline = time.monotonic() + plan.limit_seconds
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
            family |= _children(process.pid)
        hung = process.poll() is None
        if hung:
            process.send_signal(signal.SIGUSR1)  # faulthandler writes down where its threads are
            time.sleep(STACK_SECONDS)
        family |= _children(process.pid)
    finally:
        killed = _end(process, family)
        os.close(lifeline_end)
    if hung:  # that its children had to be ended too is a matter of course
        return f"hung for more than {plan.limit_seconds:g} s", 0
    code = process.returncode
    return (f"died with signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"), killed


def _started(folder: Path) -> tuple["subprocess.Popen[bytes]", int]:
    """The process of a trial, and the end of its lifeline that is ours to hold as long as it is to live."""
    lifeline, lifeline_end = os.pipe()
    module = ["-X", "faulthandler", "-m", "respawn.training.world_trial_process"]
    try:
        with (folder / "trial.out").open("wb") as printed:
            process = subprocess.Popen(
                [sys.executable, *module, str(os.getpid()), str(lifeline), str(folder)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(_search_path())},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                pass_fds=(lifeline,),
                process_group=0,  # an interrupt typed at the terminal is ours to handle
            )
    except BaseException:
        os.close(lifeline_end)
        raise
    finally:
        os.close(lifeline)
    return process, lifeline_end


def _search_path() -> list[str]:
    """What a trial can import: all that we can, and the shim."""
    shim = shim_folder()
    return [*([] if shim is None else [str(shim)]), *(folder or str(Path.cwd()) for folder in sys.path)]


def _children(pid: int) -> set[psutil.Process]:
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def _end(process: "subprocess.Popen[bytes]", family: Iterable[psutil.Process]) -> int:
    """See to it that a trial and all that it started are gone; returns how many children did not go by themselves."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(list(family), timeout=GRACE_SECONDS)
    for child in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    psutil.wait_procs(alive, timeout=GRACE_SECONDS)
    return len(alive)


def _parsed(path: Path) -> Record | None:
    """What the trial left; None if it left nothing whole."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return result if isinstance(result, dict) else None


def _error(result: Record | None, how_it_ended: str, left_behind: int, folder: Path) -> str | None:
    """What was wrong with a trial, in one line; None, nothing, only where a file of its own says so."""
    if result is None:
        stage = (_marks(folder) or [{"stage": "start"}])[-1]["stage"]
        return f"{how_it_ended} in {stage}, and left no result"
    if not result["ok"]:
        # Without the folder, which is another in each trial: what is the same is to be counted together.
        return str(result["error"]).replace(f"{folder}{os.sep}", "")
    if left_behind:
        return f"left {left_behind} processes behind"
    return None


def _steps_by_marks(folder: Path) -> int:
    """How far a trial came that could not say so itself."""
    return max((int(mark.get("steps_done", 0)) for mark in _marks(folder)), default=0)


def _marks(folder: Path) -> list[Record]:
    path = folder / "trial.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def last_output(record: Mapping[str, Any], limit_bytes: int = 2_000) -> str:
    """The end of what a failed trial's process printed, with its stacks."""
    path = Path(record["diagnostics"]) / "trial.out"
    return read_from(path, 0, limit_bytes) if path.is_file() else ""


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    """Counts, times and the commonest errors, by backend."""
    backends = list(dict.fromkeys(record["backend"] for record in records))
    return {
        "trials": len(records),
        "ok": sum(record["ok"] for record in records),
        "failed": sum(not record["ok"] for record in records),
        "backends": {name: _summary([record for record in records if record["backend"] == name]) for name in backends},
    }


def _summary(records: Sequence[Record]) -> dict[str, Any]:
    errors = Counter(str(record["error"]) for record in records if not record["ok"])
    ends: Counter[str] = Counter()
    for record in records:
        ends.update(record["ends"])
    return {
        "trials": len(records),
        "ok": sum(record["ok"] for record in records),
        "failed": sum(not record["ok"] for record in records),
        "num_lanes": records[0]["num_lanes"],
        "workers": records[0]["workers"],
        "steps": records[0]["steps"],
        "lane_steps": sum(record["steps_done"] * record["num_lanes"] for record in records),
        "episodes": sum(record["episodes"] for record in records),
        "ends": dict(ends.most_common()),
        **{name: _spread([record[name] for record in records if record[name] is not None]) for name in _TIMES},
        "top_errors": [{"error": error, "trials": count} for error, count in errors.most_common(TOP_ERRORS)],
    }


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {"min": min(values), "mean": sum(values) / len(values), "max": max(values)}
