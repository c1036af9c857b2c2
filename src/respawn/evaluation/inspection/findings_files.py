"""Findings about the run's files: what cannot be read, what is missing, what it can be resumed from."""

from collections.abc import Iterator

from respawn.evaluation.inspection.finding import Finding, Severity
from respawn.evaluation.inspection.inspect import Inspection
from respawn.evaluation.inspection.salvage import config_number
from respawn.evaluation.inspection.spans import span

_NO_ACTIONS = frozenset({"", "is this a run folder?"})
"""What errors end in that do not say what to do about a run that is known to be one."""
LATE_CHECKPOINTS = 10
"""A checkpoint that is so many intervals old is late, ..."""
LATE_SECONDS = 600.0
"""... if that is at least as long as this, ..."""
LATE_UPDATES = 5
"""... and as so many updates take, for nothing is saved within one."""


def unreadable(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Files that cannot be read, or not to their end."""
    for problem in seen.problems:
        sentence, _, action = problem.partition("; ")
        if sentence.startswith(str(seen.folder.status)):
            action = "delete it: whoever takes the run up next writes it anew"
        yield Finding("bad", sentence, "put the file back from a copy" if action in _NO_ACTIONS else action)


def rows_not_kept(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Rows that the newest checkpoint knows of and that are gone or changed: a resume would refuse to go on."""
    keeping = seen.keeping
    for problem in keeping.rows_not_kept:
        sentence, _, action = problem.partition("; ")
        if keeping.newest_with_rows is not None:
            later = keeping.whole[keeping.whole.index(keeping.newest_with_rows) + 1 :]
            action = f"put the file back from a copy; or move {', '.join(later)} in checkpoints/ away, then: {resume}"
        yield Finding("bad", sentence, action)


def checkpoints(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Checkpoints that are damaged, and none at all."""
    keeping = seen.keeping
    for name, why in keeping.damaged.items():
        severity: Severity = "warning" if keeping.whole else "bad"
        action = "put one back from a copy: no other can be resumed from"
        if keeping.whole:
            action = (
                f"nothing now: a resume passes over it and begins at {keeping.whole[-1]}; see whether the disk fails"
            )
        yield Finding(severity, f"checkpoint {name} is damaged: {why}", action)
    for name, why in keeping.unusable.items():
        sentence, _, action = why.partition("; ")
        yield Finding("bad", f"checkpoint {name} cannot be used: {sentence}", action or "see to its permissions")
    if seen.pace.rows and not (keeping.whole or keeping.damaged or keeping.unusable):
        sentence = f"there is no checkpoint in {seen.folder.checkpoints}"
        yield Finding("bad", sentence, "put them back from a copy: without one the run can only be begun anew")


def no_checkpoint_lately(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that goes on and has not been saved for long."""
    every = config_number(seen.config, "checkpoints", "every_seconds", 0.0)
    age = seen.keeping.newest_age_seconds
    if not seen.life.is_alive or age is None or every <= 0:
        return
    late = max(LATE_CHECKPOINTS * every, LATE_SECONDS, LATE_UPDATES * seen.pace.longest_seconds)
    if age > late:
        sentence = f"the newest checkpoint is {span(age)} old, and one is due every {every:g} s"
        yield Finding("warning", sentence, "see that the run moves and that the disk has room")
