"""What stands out in an inspection: sentences, each with what to do next, the worst first."""

from collections.abc import Callable, Iterator

from respawn.evaluation.inspection.finding import SEVERITIES, Finding
from respawn.evaluation.inspection.findings_events import told
from respawn.evaluation.inspection.findings_files import checkpoints, no_checkpoint_lately, refused, unreadable
from respawn.evaluation.inspection.findings_process import (
    ended,
    lost_workers,
    no_heartbeats,
    resumed_in_vain,
    standing_still,
    wear,
)
from respawn.evaluation.inspection.findings_training import learning, numbers, speed
from respawn.evaluation.inspection.inspect import Inspection

RULES: tuple[Callable[[Inspection, str], Iterator[Finding]], ...] = (
    standing_still, ended, resumed_in_vain, unreadable, checkpoints, no_checkpoint_lately, numbers, lost_workers,
    wear, speed, learning, told, no_heartbeats,
)  # fmt: skip
"""In the order in which findings of equal severity are shown; what keeps the run from being resumed stands before them.

Each is given the run and the command that goes on with it, or nothing where that would be refused.
"""

NOTHING = Finding("note", "nothing looks wrong", "none is needed")


def findings(seen: Inspection, resume: str, anew: str = "") -> list[Finding]:
    """All that stands out.

    Args:
      seen: the run.
      resume: the command that goes on with it.
      anew: what begins a new run with its weights; empty: nothing does.
    """
    allowed = resume if seen.is_writable and not seen.keeping.refusal else ""
    found = [*refused(seen, resume, anew), *(finding for rule in RULES for finding in rule(seen, allowed))]
    if all(finding.severity == "note" for finding in found):
        found.insert(0, NOTHING)
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
