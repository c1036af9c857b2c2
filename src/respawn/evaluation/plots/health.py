"""Whether a run learns: entropy, KL, explained variance and learning rate over its updates."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from respawn.evaluation.learning_health import (
    ENTROPY,
    ENTROPY_LIMIT,
    EXPLAINED_VARIANCE,
    LEAST_EXPLAINED,
    UNIFORM_ENTROPY,
    entropy_limit,
    learning_health,
)
from respawn.evaluation.plots.figure import (
    COOL,
    DIM,
    GOOD,
    WARM,
    entitle,
    legend_above,
    limit_line,
    new_figure,
    over_updates,
    tidy,
)
from respawn.evaluation.plots.fish_training import line
from respawn.evaluation.plots.shown_run import Drawn, ShownRun

KL, LEARNING_RATE = "policy/kl", "knob/learning_rate"

_LOWEST_SHOWN = -1.0
"""An explained variance far below this says no more than one that is this low, and would flatten all others."""


def draw_learning_health(run: ShownRun) -> Drawn:
    """One panel for each of the four that the run tells."""
    shown = [metric for metric in (ENTROPY, KL, EXPLAINED_VARIANCE, LEARNING_RATE) if run.points(metric)[0]]
    if not shown:
        return "no update tells entropy, KL, explained variance or learning rate"
    health = learning_health(run.record.updates, entropy_limit(run.record.config))
    figure = new_figure(9, 1.2 + 1.9 * len(shown))
    panels: list[Axes] = list(figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0])
    for axes, metric in zip(panels, shown, strict=True):
        {
            ENTROPY: _draw_entropy,
            KL: _draw_kl,
            EXPLAINED_VARIANCE: _draw_explained,
            LEARNING_RATE: _draw_rate,
        }[metric](axes, run, health)
        tidy(axes)
        run.mark_phases(axes, named=axes is panels[0])
        legend_above(axes)
    over_updates(panels[-1])
    verdict = {True: "learning", False: "not learning", None: "cannot be said"}[health["learning"]]
    entitle(figure, run.name, f"Learning health: {verdict}")
    return figure


def _draw_entropy(axes: Axes, run: ShownRun, health: Mapping[str, Any]) -> None:
    line(axes, *run.points(ENTROPY), COOL, "entropy of the policy")
    axes.set_ylabel("entropy\n(nats)")
    limit = health["entropy_limit"]
    if limit == ENTROPY_LIMIT:
        limit_line(axes, UNIFORM_ENTROPY, "five equal chances (ln 5)", DIM)
    if limit is not None:
        limit_line(axes, limit, f"to fall below ({limit:.3g})")
    axes.margins(y=0.12)


def _draw_kl(axes: Axes, run: ShownRun, health: Mapping[str, Any]) -> None:
    line(axes, *run.points(KL), WARM, "KL divergence of an update")
    axes.set_ylabel("KL\n(nats)")
    axes.set_ylim(bottom=min(0.0, *run.points(KL)[1]))
    _small_numbers(axes)


def _draw_explained(axes: Axes, run: ShownRun, health: Mapping[str, Any]) -> None:
    updates, values = run.points(EXPLAINED_VARIANCE)
    line(axes, updates, [max(value, _LOWEST_SHOWN) for value in values], GOOD, "explained variance of the values")
    limit_line(axes, LEAST_EXPLAINED, f"to exceed ({LEAST_EXPLAINED:g})")
    below = [update for update, value in zip(updates, values, strict=True) if value < _LOWEST_SHOWN]
    if below:
        axes.plot(below, [_LOWEST_SHOWN] * len(below), "v", color=GOOD, markersize=6, label="lower than shown")
    axes.set_ylim(min(-0.1, *(max(value, _LOWEST_SHOWN) - 0.12 for value in values)), 1.05)
    axes.set_ylabel("explained\nvariance")


def _draw_rate(axes: Axes, run: ShownRun, health: Mapping[str, Any]) -> None:
    line(axes, *run.points(LEARNING_RATE), DIM, "learning rate")
    axes.set_ylabel("learning\nrate")
    axes.set_ylim(0, 1.12 * max(run.points(LEARNING_RATE)[1]) or 1.0)
    _small_numbers(axes)


def _small_numbers(axes: Axes) -> None:
    """Each number whole: a power of ten that is told once would stand where the legend is."""
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
