"""What a trial is worth: one number from its evaluations."""

from collections.abc import Sequence
from statistics import fmean

from respawn.contracts.records import EvaluationReport
from respawn.errors import LearningError
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations
from respawn.sweeps.definition import Definition

LAST_EVALUATIONS = 3
"""The final value is their mean: a single evaluation of a policy that still learns goes up and down."""
SCORES = {
    "final": f"the mean of the last {LAST_EVALUATIONS} evaluations",
    "mean": "the mean of all evaluations, which is higher the sooner a trial is good; those that a goal spared count "
    "as the last",
    "best": "the best evaluation, which is also the luckiest",
}


def values_of(folder: RunFolder, definition: Definition) -> list[float]:
    """The objective at each evaluation of a trial so far."""
    return [value_of(report, definition) for report in read_evaluations(folder)]


def value_of(report: EvaluationReport, definition: Definition) -> float:
    """The objective in one evaluation; raises LearningError where it is no number."""
    value = report.metrics.get(definition.objective)
    if value is None or value != value:
        raise LearningError(f"the evaluation at update {report.update} says no {definition.objective}")
    return value


def score(values: Sequence[float], definition: Definition) -> float:
    """The trial's value; raises LearningError where nothing was evaluated."""
    if not values:
        raise LearningError("it ended before its first evaluation, so nothing is known of it; give trials more time")
    if definition.score == "best":
        return max(values) if definition.direction == "maximise" else min(values)
    if definition.score == "mean":
        spared = max(definition.evaluations - len(values), 0)
        return fmean([*values, *[values[-1]] * spared])
    return fmean(values[-LAST_EVALUATIONS:])
