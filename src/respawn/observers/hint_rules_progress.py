"""Hints about what comes of it: progress, episodes, returns, evaluations.

Each condition looks at many rows, since single ones are noise, and answers the numbers that it went by.
"""

from respawn.observers.hint_rule import Grounds, Rule
from respawn.observers.hint_view import JUDGED_BY, HintView

STILL_ROWS = 10
STILL_SHARE = 0.01
"""Under a hundredth of the decisions is less than one step of a lane in a usual rollout. Healthy Mario runs had
0.27."""

LONG_EPISODE_STEPS = 10_000
"""Evaluations cut episodes here too, unless told otherwise."""
SHORT_PLAN_STEPS = 1_000
"""Enough to say so where half of the plan is over already."""

ZERO_RETURN_ROWS = 50
ZERO_RETURN_EPISODES = 200

_FROM_BEST = "--weights-from RUN@best"
JUDGED_IN_A_ROW = 3
"""One bad evaluation is common while a policy changes: one of mario's seven is. Three in a row are not chance."""


def no_progress(view: HintView) -> Grounds | None:
    """Hardly a decision leads forward, and no script is at work."""
    if view.facts.progress_metric is None or view.was_scripted(STILL_ROWS):
        return None
    shares = view.recent(view.facts.progress_metric, STILL_ROWS)
    if shares is None or max(shares) >= STILL_SHARE:
        return None
    return {"updates": STILL_ROWS, "highest_share": max(shares)}


def _steps_without_an_end(view: HintView) -> int | None:
    """Decisions of each lane, where no episode has ever ended and there were enough of them."""
    steps = view.decisions // view.facts.lanes_in_all
    is_half_over = 2 * view.update >= view.facts.planned_updates
    enough = SHORT_PLAN_STEPS if is_half_over else LONG_EPISODE_STEPS
    return steps if view.episodes == 0 and steps >= enough else None


def _is_moving(view: HintView) -> bool:
    shares = view.recent(view.facts.progress_metric, STILL_ROWS) if view.facts.progress_metric else None
    return shares is not None and max(shares) >= STILL_SHARE


def endless_progress(view: HintView) -> Grounds | None:
    """It moves, and yet nothing ends, so there are no returns."""
    steps = _steps_without_an_end(view)
    return {"steps": steps} if steps is not None and _is_moving(view) else None


def no_episode_ended(view: HintView) -> Grounds | None:
    """Nothing ends, and nothing says that it moves."""
    steps = _steps_without_an_end(view)
    return {"steps": steps} if steps is not None and not _is_moving(view) else None


def zero_returns(view: HintView) -> Grounds | None:
    """All of the recent episodes returned exactly nothing, for long."""
    best, mean = view.recent("return/max", ZERO_RETURN_ROWS), view.recent("return/mean", ZERO_RETURN_ROWS)
    if best is None or mean is None or view.episodes < ZERO_RETURN_EPISODES:
        return None
    # A best and a mean of zero leave no room for anything else.
    is_zero = all(value == 0.0 for value in (*best, *mean))
    return {"updates": ZERO_RETURN_ROWS, "episodes": view.episodes} if is_zero else None


def judged_below_training(view: HintView) -> Grounds | None:
    """Evaluation after evaluation is worse than nine in ten of the training episodes, by half of their mean or more."""
    latest = list(view.evaluations)[-JUDGED_IN_A_ROW:]
    if not view.facts.is_judged_as_trained or len(latest) < JUDGED_IN_A_ROW:
        return None
    for row in latest:
        if row.trained is None or row.trained_low is None:
            return None
        # The agent explores in training, so that an evaluation should be the better of the two.
        if row.judged >= row.trained_low or row.trained - row.judged < 0.5 * abs(row.trained):
            return None
    return {"evaluations": JUDGED_IN_A_ROW, "judged": latest[-1].judged, "trained": latest[-1].trained or 0.0}


def fell_back(view: HintView) -> Grounds | None:
    """Evaluation after evaluation is closer to the worst that there was than to the best."""
    latest = list(view.evaluations)[-JUDGED_IN_A_ROW:]
    if view.best_evaluation is None or view.worst_evaluation is None or len(latest) < JUDGED_IN_A_ROW:
        return None
    update, best = view.best_evaluation
    halfway = (best + view.worst_evaluation) / 2
    # All may be alike and differ by chance alone: a fall is one of half of what was reached.
    if update >= latest[0].update or max(row.judged for row in latest) >= min(halfway, best - 0.5 * abs(best)):
        return None
    return {
        "evaluations": JUDGED_IN_A_ROW,
        "judged": latest[-1].judged,
        "best": best,
        "best_update": update,
        "way_back": _way_back(view.facts.best_kept_by),
    }


def _way_back(best_kept_by: str) -> str:
    if not best_kept_by:
        return "checkpoints.keep_best is 0, so that it is kept by chance alone; begin again"
    if best_kept_by != JUDGED_BY:
        return f"checkpoint 'best' is that of {best_kept_by}; where that is good, begin again from it ({_FROM_BEST})"
    return f"the best is kept as checkpoint 'best'; begin again from it ({_FROM_BEST})"


RULES = (
    Rule(
        "no-progress",
        no_progress,
        "nothing has moved forward for {updates} updates (at most {highest_share:.1%} of decisions): watch it with "
        "'respawn play RUN --sampled'; if it stands still, force a beginning with "
        "--schedules.progression.forward-frames 200, or reward distance more",
    ),
    Rule(
        "endless-progress",
        endless_progress,
        "it moves, but no episode has ended in {steps:,} decisions of each lane, so there are no returns: cut episodes "
        "earlier with --world.limit-steps or --world.stall-steps",
    ),
    Rule(
        "no-episode-ended",
        no_episode_ended,
        "no episode has ended in {steps:,} decisions of each lane, so there are no returns: see whether the world ever "
        "says that one is over, or cut them with --world.max-episode-steps (Mario: --world.limit-steps)",
    ),
    Rule(
        "zero-returns",
        zero_returns,
        "every recent episode has returned exactly 0 for {updates} updates ({episodes:,} episodes in all): nothing can "
        "be learned from that; see that rewards arrive (--world.rewards… in Mario and fish), force a beginning with "
        "--schedules.progression.script, or explore more with --learner.entropy-cost",
    ),
    Rule(
        "judged-below-training",
        judged_below_training,
        "the last {evaluations} evaluations are far below training ({judged:.4g} against {trained:.4g}): compare "
        "'respawn evaluate RUN' with 'respawn evaluate RUN --sampled'; if only the likeliest actions fail, train "
        "longer or judge as in training with --evaluation.no-greedy",
    ),
    Rule(
        "fell-back",
        fell_back,
        "the last {evaluations} evaluations have lost more than half of the best ({judged:.4g} against {best:.4g} at "
        "update {best_update}): {way_back} with a lower --learner.optimizer.learning-rate, or let it fall with "
        "--schedules.learning-rate.shape linear",
    ),
)
