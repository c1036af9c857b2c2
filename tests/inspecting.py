"""What an inspection of a hand-made run finds."""

from hand_made import NOW, HandMade
from respawn.evaluation.inspection.finding import Finding
from respawn.evaluation.inspection.findings import findings
from respawn.evaluation.inspection.inspect import inspect

RESUME = "respawn resume run"


def found_in(made: HandMade) -> list[Finding]:
    """All that stands out."""
    return findings(inspect(made.folder, NOW), RESUME)


def about(made: HandMade, words: str) -> Finding | None:
    """The one finding whose sentence has these words in it; None: there is none."""
    matching = [finding for finding in found_in(made) if words in finding.sentence]
    assert len(matching) < 2, matching
    return matching[0] if matching else None
