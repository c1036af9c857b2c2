"""Findings about the training itself: numbers that are none, a run that became slow, one that gets nowhere."""

from collections.abc import Iterator

from respawn.evaluation.inspection.finding import Finding, Severity
from respawn.evaluation.inspection.happenings import FORWARD_HINTS, OPEN_ENDED_HINTS
from respawn.evaluation.inspection.inspect import Inspection
from respawn.evaluation.inspection.salvage import config_number

SLOWER = 0.6
"""A run that makes less than this share of its former decisions a second has become slow."""
SLOW_SECONDS = 60.0
"""What passes sooner is no slowness; and of less there is no former speed."""
OPEN_STEPS = 10_000
"""Decisions of a lane after which a first episode should have ended."""
PROGRESS_UPDATES = 50
"""Updates after which there should have been some progress."""


def numbers(seen: Inspection, resume: str) -> Iterator[Finding]:
    """NaN and infinities."""
    pace, evidence = seen.pace, seen.evidence
    if pace.not_finite:
        names = ", ".join(f"{name} in {count:,} row{'s' * (count > 1)}" for name, count in pace.not_finite.items())
        severity: Severity = "bad" if pace.is_not_finite_now else "warning"
        sentence = f"not finite: {names}, first at update {pace.first_not_finite_update}"
        yield Finding(severity, sentence, "see what was kept in faults/; a lower learning rate often helps a new run")
    if evidence.faults:
        is_over = not pace.is_not_finite_now and seen.life.status != "failed"
        many = "1 batch was" if len(evidence.faults) == 1 else f"{len(evidence.faults)} batches were"
        sentence = f"numbers that are not finite came up, and {many} kept; the newest: {evidence.fault_sentence}"
        action = f"look at {evidence.faults[0]}/facts.json: it has the numbers, and where in the batch they are"
        yield Finding("note" if is_over else "warning", sentence, action)


def speed(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that has become slow, and stays so."""
    pace = seen.pace
    if pace.now_per_second is None or pace.before_per_second is None:
        return
    is_long = min(pace.now_seconds, pace.before_seconds) >= SLOW_SECONDS
    if is_long and pace.now_per_second < SLOWER * pace.before_per_second:
        severity: Severity = "note" if seen.life.status == "finished" else "warning"
        most = max(pace.shares, key=lambda name: pace.shares[name], default=None)
        share = "" if most is None else f"; {pace.shares[most]:.0%} of the time goes to {most}"
        now, before = f"{pace.now_per_second:,.0f}", f"{pace.before_per_second:,.0f}"
        slow = next((trace for trace in seen.evidence.traces if "/slow-steps-" in trace), None)
        action = "see what else uses this machine (top)" + (f", and read {slow}" if slow else "")
        yield Finding(severity, f"it makes {now} decisions a second, and made {before} before{share}", action)


def learning(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that gets nowhere, where no hint says so already."""
    pace, hints = seen.pace, {group.kind for group in seen.happenings.groups}
    lane_steps = pace.rows * config_number(seen.config, "collection", "horizon_steps", 0.0)
    lane_steps /= max(config_number(seen.config, "collection", "actors", 0.0), 1.0)
    if pace.first_episode_update is None and lane_steps >= OPEN_STEPS and not hints & OPEN_ENDED_HINTS:
        sentence = f"no episode has ended in {lane_steps:,.0f} decisions of each lane, so there are no returns"
        action = "limit their length (Mario: --world.limit-steps), or wait if they are meant to be long"
        yield Finding("warning", sentence, action)
    is_late = pace.rows >= PROGRESS_UPDATES and pace.first_progress_update is None
    if pace.progress_metric is not None and is_late and not hints & FORWARD_HINTS:
        sentence = f"there was no progress in {pace.rows:,} updates: {pace.progress_metric} never was above 0"
        yield Finding("warning", sentence, "docs/cold-start.md: a script or a probe can show the first steps")
