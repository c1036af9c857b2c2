"""What a trial is worth: one number from its evaluations."""

from collections.abc import Sequence
from math import inf, isfinite
from statistics import fmean

from respawn.contracts.records import EvaluationReport
from respawn.errors import LearningError
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations
from respawn.sweeps.definition import Definition
from respawn.training.config import RunConfig

LAST_EVALUATIONS = 3
"""The final value is their mean: a single evaluation of a policy that still learns goes up and down."""
SCORES = {
    "final": f"the mean of the last {LAST_EVALUATIONS} evaluations, where those that a goal spared count as the last "
    "that was made",
    "mean": "the mean of all evaluations, which is higher the sooner a trial is good; those that a goal spared count "
    "as the last that was made",
    "best": "the best evaluation, which is also the luckiest",
}


def values_of(folder: RunFolder, definition: Definition) -> list[float]:
    """The objective at each evaluation of a trial so far."""
    return [value_of(report, definition) for report in read_evaluations(folder)]


def value_of(report: EvaluationReport, definition: Definition) -> float:
    """The objective in one evaluation; raises LearningError where it is no number."""
    value = report.metrics.get(definition.objective)
    if value is None or not isfinite(value):
        raise LearningError(f"the evaluation at update {report.update} says no {definition.objective}")
    return value


def reaches_goal(reports: Sequence[EvaluationReport], config: RunConfig) -> bool:
    """Whether a run that was judged so, from its beginning on, ends with the last of them, as good as it was to be."""
    goal, times = config.evaluation.stop_at, config.evaluation.stop_after
    if goal is None or len(reports) < times:
        return False
    return all(goal <= report.metrics.get(config.checkpoints.best_metric, -inf) < inf for report in reports[-times:])


def score(values: Sequence[float], definition: Definition, *, goal_reached: bool = False) -> float:
    """The trial's value; raises LearningError where nothing was evaluated.

    Args:
      values: the objective at each evaluation.
      definition: what the study is.
      goal_reached: whether a goal ended the trial. It was then as good as it was to be, and would have been later; of
        one that its time ended nobody knows what would have become.
    """
    if not values:
        raise LearningError("it ended before its first evaluation, so nothing is known of it; give trials more time")
    if definition.score == "best":
        return max(values) if definition.direction == "maximise" else min(values)
    spared = max(definition.evaluations - len(values), 0) if goal_reached else 0
    whole = [*values, *[values[-1]] * spared]
    return fmean(whole if definition.score == "mean" else whole[-LAST_EVALUATIONS:])
