"""What training itself looked like: survival, first deaths, and the penalty beside them."""

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from respawn.evaluation.plots.figure import (
    BAD,
    COOL,
    DIM,
    GOOD,
    WARM,
    entitle,
    legend_above,
    new_figure,
    over_updates,
    tidy,
    twin,
)
from respawn.evaluation.plots.shown_run import Drawn, ShownRun, marker_for

PENALTY, ENTROPY_COST = "knob/density_penalty", "knob/entropy_cost"
SURVIVAL, ALIVE, SIZE = "episode/survival", "episode/alive", "knob/school_size"
FIRST_DEATH, FIRST_DEATH_P10 = "episode/first_death", "episode/first_death_p10"
POLICY_ENTROPY = "policy/entropy"

_LEAST_SPAN = 0.1
"""nats that the axis of an entropy shows at least"""
_NO_EPISODES = "no update tells of finished episodes yet"


def draw_survival(run: ShownRun) -> Drawn:
    """Which share of the school was left, and how many fish."""
    updates, survival = run.points(SURVIVAL)
    if not updates:
        return _NO_EPISODES
    figure = new_figure(9, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    line(upper, updates, survival, COOL, "share of the school alive at an episode's end")
    upper.set_ylim(0, 1.05)
    upper.yaxis.set_major_formatter(PercentFormatter(1.0))
    upper.set_ylabel("survival, last 100 episodes")
    line(lower, *run.points(ALIVE), WARM, "alive at an episode's end")
    sizes = run.points(SIZE)
    lower.step(*sizes, where="mid", color=DIM, linewidth=1.2, linestyle="--", label="at its beginning")
    lower.set_ylim(0, 1.08 * max(*sizes[1], *run.points(ALIVE)[1], 1.0))
    lower.set_ylabel("fish")
    over_updates(lower)
    for axes in (upper, lower):
        tidy(axes)
        run.mark_phases(axes)
        legend_above(axes)
    entitle(figure, run.name, "Survival in training")
    return figure


def draw_first_death(run: ShownRun) -> Drawn:
    """When the first fish of an episode died."""
    updates, mean = run.points(FIRST_DEATH)
    if not updates:
        return "no update tells of a death in training yet"
    figure = new_figure(9, 4.2)
    axes = figure.subplots()
    line(axes, updates, mean, COOL, "mean of the last 100 episodes with a death")
    line(axes, *run.points(FIRST_DEATH_P10), BAD, "10th percentile of them")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("first death (step of the episode)")
    tidy(axes)
    run.mark_phases(axes)
    over_updates(axes)
    legend_above(axes, columns=3)
    entitle(figure, run.name, "First death in training")
    return figure


def draw_penalty_and_first_death(run: ShownRun) -> Drawn:
    """Whether fish die sooner as the penalty rises."""
    updates, mean = run.points(FIRST_DEATH)
    if not updates or not run.points(PENALTY)[0]:
        return "no update tells both a density penalty and a first death"
    figure = new_figure(9, 4.2)
    axes = figure.subplots()
    _draw_penalty(axes, run)
    right = twin(axes, "first death (step of the episode)", COOL)
    line(right, updates, mean, COOL, "mean first death (right)")
    right.set_ylim(bottom=0)
    over_updates(axes)
    legend_above(axes, right, columns=3)
    entitle(figure, run.name, "Density penalty and first death in training")
    return figure


def draw_penalty_and_entropy(run: ShownRun) -> Drawn:
    """What the penalty and the price of certainty were, and what the policy's entropy made of it."""
    if not run.points(PENALTY)[0] or not run.points(POLICY_ENTROPY)[0]:
        return "no update tells both a density penalty and the policy's entropy"
    figure = new_figure(9, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True)
    _draw_penalty(upper, run)
    right = twin(upper, "entropy cost", GOOD)
    costs = run.points(ENTROPY_COST)
    right.step(
        *costs, where="mid", color=GOOD, linewidth=1.6, marker=marker_for(len(costs[0])), markersize=3.5,
        label="entropy cost (right)",
    )  # fmt: skip
    top = 1.15 * max(costs[1], default=1.0) or 1.0
    right.set_ylim(-0.04 * top, top)
    legend_above(upper, right, columns=3)
    line(lower, *run.points(POLICY_ENTROPY), COOL, "entropy of the policy")
    lower.set_ylabel("entropy (nats)")
    low, high = lower.get_ylim()
    if high - low < _LEAST_SPAN:  # else noise would look like movement
        lower.set_ylim((low + high - _LEAST_SPAN) / 2, (low + high + _LEAST_SPAN) / 2)
    tidy(lower)
    run.mark_phases(lower)
    over_updates(lower)
    entitle(figure, run.name, "Density penalty, entropy cost and entropy")
    return figure


def line(axes: Axes, updates: list[int], values: list[float], colour: str, label: str) -> None:
    """A metric over updates."""
    axes.plot(
        updates, values, color=colour, linewidth=1.7, marker=marker_for(len(updates)), markersize=3.5, label=label
    )


def _draw_penalty(axes: Axes, run: ShownRun) -> None:
    updates, penalties = run.points(PENALTY)
    axes.step(
        updates, penalties, where="mid", color=WARM, linewidth=1.8, marker=marker_for(len(updates)), markersize=3.5,
        label="density penalty (left)",
    )  # fmt: skip
    top = 1.15 * max(penalties) or 0.1
    axes.set_ylim(-0.04 * top, top)  # a penalty of 0 is to be seen above the axis
    axes.set_ylabel("density penalty (coefficient)", color=WARM)
    tidy(axes)
    run.mark_phases(axes)
