"""Findings about the run's process: whether it lives and moves, how it ended, what it lost and what it uses up."""

from collections.abc import Iterator
from pathlib import Path

from respawn.evaluation.inspection.finding import Finding, Severity, then
from respawn.evaluation.inspection.happenings import Group
from respawn.evaluation.inspection.inspect import Inspection
from respawn.evaluation.inspection.spans import span
from respawn.evaluation.inspection.wear import Trend
from respawn.runs.disk import FULL_DISK_GIB, is_nearly_full, room_told

VAIN_RESUMES = 3
"""After so many resumes from one checkpoint, another one is not going to help."""
GROWN_SHARE, GROWN_MIB = 1.5, 500.0
GROWN_HANDLES = 50.0
FULL_MEMORY_PERCENT = 90.0
IDLE_GPU_PERCENT, IDLE_GPU_HOURS = 15.0, 0.1


def standing_still(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A process that is there and does not move."""
    life = seen.life
    if not life.is_alive:
        return
    stop = f"stop it (kill {life.pid}; where that does nothing, kill -9 {life.pid})" if life.pid else "stop it"
    stop += f" and: {resume}" if resume else ""
    look = f"read {seen.evidence.traces[0]}" if seen.evidence.traces else f"see where: py-spy dump --pid {life.pid}"
    phases = "; ".join(f"{thread} in '{phase}'" for thread, phase in (life.beat.phases if life.beat else {}).items())
    where = f" ({phases} when its heart last beat)" if phases else ""
    if life.suspended_children:
        pids = " ".join(str(pid) for pid in life.suspended_children)
        sentence = f"workers or actors of the run are suspended: {pids.replace(' ', ', ')}"
        yield Finding("bad", sentence, f"wake them: kill -CONT {pids}")
    if life.process_state == "stopped":
        yield Finding("bad", f"process {life.pid} is suspended{where}", f"wake it: kill -CONT {life.pid}")
    elif life.is_stalled and life.beat is not None:
        idle = life.beat.metrics.get("heartbeat/idle_seconds", 0.0)
        still = f" ({phases})" if phases else ""
        yield Finding("bad", f"nothing has moved for {span(idle)}{still}", f"{look}; then {stop}")
    elif life.is_silent:
        which = "beat" if life.beat is not None else "row"
        ago = span(life.ages_seconds[which] or 0.0)
        yield Finding("bad", f"it is alive, and its last {which} came {ago} ago{where}", f"{look}; then {stop}")


def ended(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that ended otherwise than it was meant to."""
    life = seen.life
    if life.status == "failed":
        cause = life.cause or life.failure_line or "the cause is not recorded"
        where = _stacks(seen, cause) or seen.evidence.failure
        read = f"read {where}, mend what caused it" if where else "mend what caused it"
        yield Finding("bad", f"the run failed: {cause}", f"{read}{then(resume)}")
    elif (failure := untold_failure(seen)) is not None:
        sentence = f"it {failure.message}; that could not be recorded in status.json{_lost(seen)}"
        yield Finding("bad", sentence, f"see that its folder has room and may be written to{then(resume)}")
    elif life.status == "killed":
        sentence = f"the process is gone without having ended the run{_lost(seen)}"
        yield Finding("bad", sentence, f"{_about_killed(seen)}{then(resume)}")
    elif life.status == "stopped" and life.cause:
        action = f"go on: {resume}" if resume else "go on as soon as nothing stands against resuming"
        if _stood_still(seen):  # and will again, unless that is mended
            action = f"it had stood still: read {seen.evidence.traces[0]}, mend what hangs{then(resume)}"
        yield Finding("warning", f"the run was stopped and not saved{_lost(seen)}: {life.cause}", action)
    may_go_on = life.status not in ("finished", "broken")
    if may_go_on and not seen.is_writable:
        sentence = f"{seen.folder.path} may not be written to"
        yield Finding("bad", sentence, "see to its permissions, and whether the disk is mounted read-only (mount)")


def _stood_still(seen: Inspection) -> bool:
    """Whether its last beat said that nothing moved, and where can be read."""
    return seen.life.beat is not None and seen.life.beat.is_stalled and bool(seen.evidence.traces)


def untold_failure(seen: Inspection) -> Group | None:
    """How a run failed that could only tell its events of it: its folder was full, or could not be written to."""
    failed = seen.happenings.of_kind("failed")
    return None if failed is None or seen.life.status != "killed" or seen.happenings.is_past(failed) else failed


def _stacks(seen: Inspection, cause: str) -> str | None:
    """The trace that the cause names, as of a run that ended itself because it hung: failure.txt only repeats it."""
    return next((trace for trace in seen.evidence.traces if Path(trace).name in cause), None)


def _lost(seen: Inspection) -> str:
    if seen.keeping.refusal:
        return ""  # nothing will be made again, as things are
    lost = (seen.life.last_update or 0) - (seen.keeping.newest_update or 0)
    many = "1 update" if lost == 1 else f"{lost:,} updates"
    return f", and {many} after the newest checkpoint will be made again" if lost > 0 else ""


def _about_killed(seen: Inspection) -> str:
    """Who may have done it, the likeliest first."""
    hung = next((trace for trace in seen.evidence.traces if "/hung-" in trace), None)
    memory = seen.wear.trends.get("system_memory_percent")
    if _stood_still(seen):
        return f"it had stood still: read {seen.evidence.traces[0]}"
    if hung is not None and hung == seen.evidence.traces[0]:
        return f"it hung in native code, or was suspended and woken: read {hung}"
    if seen.wear.disk_free_gib < FULL_DISK_GIB:
        return "the disk is full: make room"
    if memory is not None and memory.last > FULL_MEMORY_PERCENT:
        return "the machine's memory was nearly full: make room, or use fewer lanes"
    return "see who killed it (dmesg -T | grep -i 'killed process')"


def resumed_in_vain(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that is taken up again and again and never comes to its next checkpoint."""
    began = [resumed.update for resumed in seen.happenings.resumed]
    if not began or began[-1] is None or seen.life.status == "finished" or began[-1] != seen.keeping.newest_update:
        return
    last = began[-1]
    times = next((at for at, update in enumerate(reversed(began)) if update != last), len(began))
    if times >= VAIN_RESUMES:
        sentence = f"it was resumed {times} times in a row from update {last} and never came to its next checkpoint"
        older = f"go back further: move checkpoint {seen.keeping.whole[-1]} away" if len(seen.keeping.whole) > 1 else ""
        yield Finding("bad", sentence, f"mend what ends it before resuming it again{'; or ' if older else ''}{older}")


def lost_workers(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Workers and actors that had to be replaced."""
    for kind, who in {"worker_replaced": "worker", "actor_replaced": "actor"}.items():
        group = seen.happenings.of_kind(kind)
        if group is not None:
            severity: Severity = "note" if seen.happenings.is_past(group) else "warning"
            many = f"1 {who} was" if group.count == 1 else f"{group.count:,} {who}s were"
            last = "" if group.count == 1 else "the last time: "
            log = group.facts.get("log") or seen.folder.workers
            yield Finding(severity, f"{many} lost and replaced; {last}{group.message}", f"read {log}")


def wear(seen: Inspection, resume: str) -> Iterator[Finding]:
    """What is used up: disk, memory, files, threads; and a GPU that is not used."""
    used, trends = seen.wear, seen.wear.trends
    if is_nearly_full(used.disk_free_gib, used.disk_free_share):
        severity: Severity = "note" if seen.life.status == "finished" else "warning"
        sentence = f"the disk has {room_told(used.disk_free_gib)} left ({used.disk_free_share:.0%})"
        yield Finding(severity, sentence, "make room: without it no checkpoint can be saved")
    for name, whose in {"memory_mib": "", "children_memory_mib": " of workers and actors"}.items():
        trend = None if name == "memory_mib" and seen.pace.replay_fills else trends.get(name)
        if trend is not None and trend.last > GROWN_SHARE * trend.first and trend.last - trend.first > GROWN_MIB:
            grew = f"memory{whose} grew from {trend.first:,.0f} to {trend.last:,.0f} MiB in {used.hours:.1f} h"
            restart = "stop and resume the run, and " if resume else ""
            yield Finding("warning", grew, f"if it goes on, {restart}see which world or observer grows")
    for name, what in {"open_files": "open files", "threads": "threads"}.items():
        trend = trends.get(name)
        if trend is not None and trend.last > max(2 * trend.first, trend.first + GROWN_HANDLES):
            grew = f"{what} grew from {trend.first:.0f} to {trend.last:.0f} in {used.hours:.1f} h"
            yield Finding("warning", grew, _about_handles(name, seen.life.pid if seen.life.is_alive else None, resume))
    yield from _idle_gpu(trends.get("gpu_utilisation"), used.hours)


def _about_handles(name: str, pid: int | None, resume: str) -> str:
    if pid is None:
        return f"if they grow again after a resume, something is not closed{f': {resume}' if resume else ''}"
    return f"something is not closed: ls -l /proc/{pid}/fd" if name == "open_files" else f"see py-spy dump --pid {pid}"


def _idle_gpu(gpu: Trend | None, hours: float) -> Iterator[Finding]:
    if gpu is not None and gpu.last < IDLE_GPU_PERCENT and hours > IDLE_GPU_HOURS:
        sentence = f"the GPU is used for {gpu.last:.0f} % of the time"
        yield Finding("note", sentence, "more lanes, or actors, feed it better: docs/collection.md")


def no_heartbeats(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that goes on and gives no sign of life but its rows."""
    if seen.life.is_alive and seen.life.beat is None and seen.pace.rows:
        sentence = "there are no heartbeats: an older respawn wrote this run, or observers.heartbeat-seconds is 0"
        yield Finding("note", sentence, "none is needed: whether it stands still is judged by its rows")
