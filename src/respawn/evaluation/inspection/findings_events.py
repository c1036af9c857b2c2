"""Findings from what the run was told of while it went on: each kind of event with what to do about it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from math import inf

from respawn.evaluation.inspection.finding import Finding, Severity, then
from respawn.evaluation.inspection.findings_process import untold_failure
from respawn.evaluation.inspection.happenings import HINT, Group
from respawn.evaluation.inspection.inspect import Inspection
from respawn.evaluation.inspection.life import Life
from respawn.evaluation.inspection.salvage import config_number
from respawn.observers.hints import COOLDOWN_SECONDS

_NOTHING = "none is needed"
ADVICE: Mapping[str, tuple[Severity, str]] = {
    "observer_failed": (
        "bad",
        "what it writes is missing from there on: make room, or see to the folder{then}",
    ),
    "stalled": ("warning", "it moved again; where it stood is in {trace}"),
    "hung": ("warning", "native code let nobody else run, or the process was suspended; where is in {trace}"),
    "slow_steps": ("warning", "where it was slow is in {trace}"),
    "stepped_down": ("warning", "it goes on, smaller: see who else uses the GPU, or begin with fewer lanes"),
    "damaged_checkpoint": ("warning", "an older one was taken; see whether the disk fails (dmesg, smartctl -a)"),
    "update_dropped": (
        "warning",
        "one now and then does no harm; if they go on, see in faults/ whose numbers they are: rewards are the world's; "
        "else begin anew with a lower learning rate",
    ),
    "batch_not_kept": ("warning", "see that the disk has room"),
    "evaluation_not_finite": ("warning", "see whether the environment gives rewards that are not finite"),
    "stagnation": ("warning", "docs/cold-start.md: a bootstrap, a plateau script, or more exploration"),
    "probed": ("warning", "name the action that leads forward: --schedules.progression.forward-action"),
    "script_presses_start": ("warning", "leave START out of the script"),
    "gate_check": ("warning", "docs/schedules.md, the gate: ease what cannot be reached"),
    "rung_changed": ("note", _NOTHING),
    "failed": ("note", "none is needed: it was resumed since"),
    "stopped": ("note", "none is needed: it was resumed since"),
    "slow_step": ("note", "none is needed, unless it comes again and again"),
    "clock_jumped": ("note", "see to the clock (timedatectl status); limits and rates go by another one"),
    "not_sampled": (
        "note",
        "until that is over resources.jsonl has no samples, which harms nothing else",
    ),
    "gpu_not_watched": ("note", "none is needed: resources.jsonl lacks the GPU until NVIDIA's driver answers NVML"),
    "film_failed": ("note", "none is needed: no number depends on films"),
    "film_differs": ("note", "none is needed: no number depends on films"),
    "compile_fallback": ("note", "leave learner.compile out, or install what it wants"),
    "replay_sampler_fallback": ("note", "none is needed: the other sampler draws the same"),
    "replay_shrunk": ("note", "raise --learner.replay.memory-gb in a new run, if the machine has it"),
    "replay_clamped": ("note", "in a new run, scale rewards down or leave --learner.replay.half-scalars out"),
    "actors_take_turns": ("note", "in a new run, fewer --collection.actors"),
    "pal_timing": ("note", _NOTHING),
    "plan_extended": ("note", _NOTHING),
    "device_changed": ("note", _NOTHING),
    "machine_changed": ("note", _NOTHING),
    "inexact_resume": ("note", "none is needed: a resumed run goes on, but not to the same numbers"),
    "close_failed": ("note", "see that no worker was left behind (ps)"),
}
"""How bad each kind of event is, and what to do; {trace}, and {then} how to go on, are filled in."""
_ELSEWHERE = frozenset({"worker_replaced", "actor_replaced"})
"""What other findings say better."""
_NEVER_PAST = frozenset({"damaged_checkpoint", "hung"})
"""What a resume does not mend, or is the first to tell."""


def told(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Warnings, errors and hints, by kind."""
    life = seen.life
    for group in seen.happenings.groups:
        stands_still = life.beat is not None and life.beat.is_stalled
        is_the_end = group.kind == life.status or group is untold_failure(seen)
        is_the_end |= group.kind == "stalled" and stands_still
        if group.kind in _ELSEWHERE or is_the_end:
            continue
        yield _hint(seen, group) if group.level == HINT else _event(seen, group, resume)


def _event(seen: Inspection, group: Group, resume: str) -> Finding:
    severity, action = ADVICE.get(group.kind, ("bad" if group.level == "error" else "note", "see events.jsonl"))
    past = ""
    if seen.happenings.is_past(group):
        past = ", before it was last resumed"
        if group.kind not in _NEVER_PAST:
            severity, action = "note", "none is needed, unless it comes again"
    trace = group.facts.get("trace") or seen.folder.traces
    return Finding(
        severity,
        f"{group.kind}, {_times(group)}{past}: {group.message}",
        action.format(trace=trace, then=then(resume)),
    )


def _hint(seen: Inspection, group: Group) -> Finding:
    """A hint's sentence says what to do after a colon. It is over when it was not given again though it could have."""
    life, given = seen.life, group.facts.get("update")
    again = config_number(seen.config, "observers", "hint_cooldown_updates", 200.0)
    is_over = isinstance(given, int) and (life.last_update or 0) > given + 1.1 * again + 10
    is_over &= _seconds_since(group, life) > 1.1 * COOLDOWN_SECONDS
    sentence, _, action = group.message.partition(": ")
    at = f" at update {given:,}" if isinstance(given, int) else ""
    when = (", last" if at and group.count > 1 else "") + at + (", not since" if is_over else "")
    severity: Severity = "note" if is_over or life.goal_reached else "warning"
    return Finding(severity, f"{group.kind}, {_times(group)}{when}: {sentence}", action or "docs/hints.md")


def _seconds_since(group: Group, life: Life) -> float:
    """From when it was last told to the newest row; infinite where either does not say."""
    try:
        told = datetime.fromisoformat(group.last_time).timestamp()
    except ValueError:
        return inf
    return inf if life.last_row_seconds is None else life.last_row_seconds - told


def _times(group: Group) -> str:
    return "once" if group.count == 1 else f"{group.count:,} times"
