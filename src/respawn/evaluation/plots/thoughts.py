"""A policy's thoughts over an episode: what it expected and what followed, how undecided it was, what it leaned to."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from respawn.errors import VideoError
from respawn.evaluation.plots.figure import (
    BAD,
    COOL,
    DIM,
    GOOD,
    WARM,
    entitle,
    legend_above,
    limit_line,
    new_figure,
    save_figure,
    tidy,
)
from respawn.evaluation.thoughts.steps import Thought

_COLOURS = (COOL, WARM, GOOD, BAD, "#7a4fa3", "#00838f", "#8d5a34", "#c77dbb")
_MOST_PANELS = 6
"""Choices, or numbers, that are drawn; more would be too thin to read."""


def draw_thoughts(whose: str, thoughts: Sequence[Thought], greatest_entropy: float | None, path: Path) -> None:
    """Write the figure.

    Args:
      whose: which policy, which episode.
      thoughts: one a step.
      greatest_entropy: that the policy could have; None: there is no such thing.
      path: where to, a PNG or an SVG.
    """
    if not thoughts:
        raise VideoError("a figure of a policy's thoughts needs at least one step, and none came; play an episode")
    panels = min(_MOST_PANELS, len(thoughts[0].probabilities) or len(thoughts[0].means))
    figure = new_figure(11, 4.6 + 2.3 * panels)
    grid = figure.subplots(2 + panels, 1, sharex=True, squeeze=False)[:, 0]
    _draw_values(grid[0], thoughts)
    _draw_entropy(grid[1], thoughts, greatest_entropy)
    for at, axes in enumerate(grid[2:]):
        if thoughts[0].probabilities:
            _draw_choice(axes, thoughts, at)
        else:
            _draw_number(axes, thoughts, at)
    grid[-1].set_xlabel("step")
    grid[-1].xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12, min_n_ticks=1))
    grid[-1].set_xlim(thoughts[0].step - 0.5, thoughts[-1].step + 0.5)
    entitle(figure, whose, "What the policy thought")
    save_figure(figure, path)


def _draw_values(axes: Axes, thoughts: Sequence[Thought]) -> None:
    steps = [thought.step for thought in thoughts]
    axes.plot(steps, [thought.value for thought in thoughts], color=COOL, linewidth=1.5, label="value")
    followed = [thought.followed for thought in thoughts]
    axes.plot(steps, followed, color=WARM, linewidth=1.2, label="discounted return that really followed")
    axes.set_ylabel("worth")
    tidy(axes)
    legend_above(axes)


def _draw_entropy(axes: Axes, thoughts: Sequence[Thought], greatest: float | None) -> None:
    steps = [thought.step for thought in thoughts]
    axes.plot(steps, [thought.entropy for thought in thoughts], color=COOL, linewidth=1.2, label="entropy")
    if greatest is not None:
        limit_line(axes, greatest, "greatest possible", DIM)
        axes.set_ylim(0.0, 1.05 * greatest)
    axes.set_ylabel("nats")
    tidy(axes)
    legend_above(axes)


def _draw_choice(axes: Axes, thoughts: Sequence[Thought], at: int) -> None:
    """Probabilities on top of each other; what matters least in all steps together is one band."""
    steps = [thought.step for thought in thoughts]
    choices = [thought.probabilities[at] for thought in thoughts]
    weight = {name: sum(choice[name] for choice in choices) for name in choices[0]}
    ranked = sorted(weight, key=lambda name: -weight[name])
    named = ranked if len(ranked) <= len(_COLOURS) else ranked[: len(_COLOURS) - 1]
    bands = [[choice[name] for choice in choices] for name in named]
    colours = list(_COLOURS[: len(named)])
    if len(named) < len(ranked):
        named, colours = [*named, "others"], [*colours, DIM]
        bands.append([1 - sum(values) for values in zip(*bands, strict=True)])
    axes.stackplot(steps, bands, labels=named, colors=colours, step="mid")
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("probability" if len(thoughts[0].probabilities) == 1 else f"choice {at}")
    tidy(axes)
    legend_above(axes, columns=8)


def _draw_number(axes: Axes, thoughts: Sequence[Thought], at: int) -> None:
    """The mean, one standard deviation to either side, and what was taken."""
    steps = [thought.step for thought in thoughts]
    means, spreads = [t.means[at] for t in thoughts], [t.spreads[at] for t in thoughts]
    low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
    high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
    axes.fill_between(steps, low, high, color=COOL, alpha=0.15, linewidth=0, label="one standard deviation")
    axes.plot(steps, means, color=COOL, linewidth=1.4, label="mean")
    axes.plot(steps, [float(t.actions[at]) for t in thoughts], ".", color=WARM, markersize=3, label="taken")
    axes.set_ylabel(f"number {at}")
    tidy(axes)
    legend_above(axes)
