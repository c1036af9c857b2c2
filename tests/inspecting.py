"""What an inspection of a hand-made run finds."""

from hand_made import NOW, HandMade
from respawn.checkpoints.verification import Surroundings
from respawn.evaluation.inspection.finding import Finding
from respawn.evaluation.inspection.findings import findings
from respawn.evaluation.inspection.inspect import inspect
from respawn.runs.streams import row_streams

RESUME = "respawn resume run"
ANEW = "respawn train cartpole-ppo --weights-from run"


def found_in(made: HandMade, anew: str = "", **around: str) -> list[Finding]:
    """All that stands out; `around` says what the run is around its checkpoints, beside its rows."""
    surroundings = Surroundings(streams=row_streams(made.folder), **around)  # type: ignore[arg-type]
    return findings(inspect(made.folder, NOW, surroundings), RESUME, anew)


def about(made: HandMade, words: str) -> Finding | None:
    """The one finding whose sentence has these words in it; None: there is none."""
    matching = [finding for finding in found_in(made) if words in finding.sentence]
    assert len(matching) < 2, matching
    return matching[0] if matching else None


def offering_resume(found: list[Finding]) -> list[Finding]:
    """Those whose advice is to resume."""
    return [finding for finding in found if RESUME in finding.action]
