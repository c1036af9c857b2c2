"""Findings about the run's files: what cannot be read, what is missing, what it can be resumed from."""

from collections.abc import Iterator

from respawn.evaluation.inspection.finding import Finding, Severity, then
from respawn.evaluation.inspection.inspect import Inspection
from respawn.evaluation.inspection.salvage import config_number
from respawn.evaluation.inspection.spans import span

_NO_ACTIONS = frozenset({"", "is this a run folder?"})
"""What errors end in that do not say what to do about a run that is known to be one."""
SEE_TO_PERMISSIONS = "see to its permissions"
LATE_CHECKPOINTS = 10
"""Where the newest checkpoint, and the last resume, are so many intervals ago, the next one is late, ..."""
LATE_SECONDS = 600.0
"""... if that is at least as long as this, ..."""
LATE_UPDATES = 5
"""... and as so many updates take, for nothing is saved within one."""


def unreadable(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Files that cannot be read, or not to their end."""
    for problem in seen.problems:
        sentence, action = _with_remedy(problem)
        if sentence.startswith(str(seen.folder.status)):
            action = "delete it: whoever takes the run up next writes it anew"
        yield Finding("bad", sentence, "put the file back from a copy" if action in _NO_ACTIONS else action)


def refused(seen: Inspection, resume: str, anew: str) -> Iterator[Finding]:
    """What stands against resuming from the newest checkpoint, though its files are whole.

    Args:
      seen: the run.
      resume: the command that goes on with it, once nothing stands against it.
      anew: what begins a new run with its weights; empty: nothing does.
    """
    keeping = seen.keeping
    ways = []
    if keeping.older_to_go_on_from is not None:
        back = f"move {', '.join(keeping.in_its_way)} in checkpoints/ away{then(resume)}"
        ways.append(f"{back}, which goes back to {keeping.older_to_go_on_from}" if resume else back)
    if anew:
        ways.append(f"begin a new run with its weights: {anew}")
    for side, problems in keeping.hurdles.items():
        for problem in problems:
            if problem in seen.problems:
                continue  # told as a file that cannot be read
            sentence, remedy = _with_remedy(problem)
            if not sentence.startswith(str(seen.folder.path)):
                sentence = f"checkpoint {keeping.whole[-1]}: {sentence}"
            if side == "rows":  # what else its remedy names is said below, as far as it would help
                remedy = remedy if remedy == SEE_TO_PERMISSIONS else "put the file back from a copy"
            action = "; or ".join([remedy or "put it back from a copy", *ways])
            yield Finding("bad", f"{sentence}, so resuming would be refused", action)


def checkpoints(seen: Inspection, resume: str) -> Iterator[Finding]:
    """Checkpoints that are damaged, and none at all."""
    keeping = seen.keeping
    for name, why in keeping.damaged.items():
        severity: Severity = "warning" if keeping.whole else "bad"
        action = "put one back from a copy: no other can be resumed from"
        if keeping.whole:
            action = "see whether the disk fails (dmesg, smartctl -a)"
        if keeping.whole and resume:
            action = (
                f"nothing now: a resume passes over it and begins at {keeping.whole[-1]}; see whether the disk fails"
            )
        yield Finding(severity, f"checkpoint {name} is damaged: {why}", action)
    for name, why in keeping.unusable.items():
        sentence, action = _with_remedy(why)
        yield Finding("bad", f"checkpoint {name} cannot be used: {sentence}", action or SEE_TO_PERMISSIONS)
    if seen.pace.rows and not (keeping.whole or keeping.damaged or keeping.unusable):
        sentence = f"there is no checkpoint in {seen.folder.checkpoints}"
        yield Finding("bad", sentence, "put them back from a copy: without one the run can only be begun anew")


def no_checkpoint_lately(seen: Inspection, resume: str) -> Iterator[Finding]:
    """A run that goes on and has not been saved for long."""
    every = config_number(seen.config, "checkpoints", "every_seconds", 0.0)
    age = seen.keeping.newest_age_seconds
    if not seen.life.is_alive or age is None or every <= 0:
        return
    tried = age if seen.resumed_seconds_ago is None else min(age, seen.resumed_seconds_ago)
    late = max(LATE_CHECKPOINTS * every, LATE_SECONDS, LATE_UPDATES * seen.pace.longest_seconds)
    if tried > late:
        sentence = f"the newest checkpoint is {span(age)} old, and one is due every {every:g} s"
        yield Finding("warning", sentence, "see that the run moves and that the disk has room")


def _with_remedy(problem: str) -> tuple[str, str]:
    """An error's sentence, and what it says to do; empty: nothing."""
    sentence, semicolon, remedy = problem.rpartition("; ")
    return (sentence, remedy) if semicolon else (remedy, "")
