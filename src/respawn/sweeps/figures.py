"""Figures of a study: how its best grew, how trials learned, where in the space they were good, and what mattered."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from respawn.evaluation.plots.figure import BAD, COOL, DIM, GOOD, WARM, entitle, legend_above, lighter, new_figure, tidy
from respawn.sweeps.definition import Definition
from respawn.sweeps.finals import Final
from respawn.sweeps.rows import TrialRow, best_first
from respawn.sweeps.space import Choice, Range

MOST_SLICES = 12
_COLUMNS = 4
_NARROWEST = 6.0
_MARGIN = 0.06
_SHORT_LABELS = 24
"""Characters of all labels under a slice that do not run into each other."""
_WIDE = 40.0
"""Times that a range may span before only powers of ten are marked in it."""


def short_name(name: str, among: Iterable[str]) -> str:
    """The last part of a setting's name, in words; more of it where others end so too."""
    others = [other.split(".") for other in among if other != name]
    parts = name.split(".")
    for taken in range(1, len(parts)):
        if not any(other[-taken:] == parts[-taken:] for other in others):
            return " ".join(parts[-taken:]).replace("_", " ")
    return name.replace("_", " ")


def draw_history(name: str, definition: Definition, rows: Sequence[TrialRow], finals: Sequence[Final]) -> Figure:
    """Each trial's value in the order of their beginning, the best so far, and the best on fresh seeds."""
    figure = new_figure(8.0, 4.0)
    axes = figure.subplots()
    ended = _values(rows, "complete")
    pruned = _values(rows, "pruned")
    if pruned:
        axes.scatter(list(pruned), list(pruned.values()), marker="x", color=DIM, label="pruned, where cut", zorder=3)
    if ended:
        axes.scatter(list(ended), list(ended.values()), color=COOL, label="complete", zorder=3)
        choose = np.maximum if definition.direction == "maximise" else np.minimum
        best = choose.accumulate(list(ended.values()))
        places = [*ended, max(row.trial for row in rows)]
        axes.step(places, [*best, best[-1]], where="post", color=GOOD, label="best so far", zorder=2)
    if finals:
        axes.scatter(
            [final.number for final in finals], [final.value for final in finals], marker="D", facecolors="none",
            edgecolors=WARM, linewidths=1.6, s=60, label="again, on fresh seeds", zorder=4,
        )  # fmt: skip
    failed = [row.trial for row in rows if row.state == "failed"]
    if failed:
        low = axes.get_ylim()[0]
        axes.scatter(failed, [low] * len(failed), marker="v", color=BAD, label="failed", clip_on=False, zorder=5)
        axes.set_ylim(bottom=low)
    axes.set_xlabel("trial")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(definition.objective)
    tidy(axes)
    legend_above(axes, columns=5)
    entitle(figure, name, "What each trial came to")
    return figure


def _values(rows: Sequence[TrialRow], state: str) -> dict[int, float]:
    return {row.trial: row.value for row in rows if row.state == state and row.value is not None}


def draw_curves(name: str, definition: Definition, rows: Sequence[TrialRow]) -> Figure:
    """The objective at each evaluation; pruned trials end where they were cut short."""
    figure = new_figure(8.0, 4.2)
    axes = figure.subplots()
    ranked = best_first(rows, definition)
    best = ranked[0].trial if ranked else None
    drawn = set()
    for row in rows:
        if not row.curve:
            continue
        decisions, values = zip(*row.curve, strict=True)
        is_best, is_pruned = row.trial == best, row.state == "pruned"
        drawn.add("best" if is_best else "pruned" if is_pruned else "other")
        colour = GOOD if is_best else lighter(DIM, 0.7) if is_pruned else lighter(COOL, 0.6)
        axes.plot(
            decisions, values, color=colour, linewidth=2.2 if is_best else 1.1, zorder=4 if is_best else 2,
            marker="." if len(values) == 1 else None,
        )  # fmt: skip
        if is_pruned:
            axes.plot(decisions[-1], values[-1], marker="x", color=DIM, markersize=7, zorder=3)
    explained = {
        "best": Line2D([], [], color=GOOD, linewidth=2.2, label=f"trial {best}, the best"),
        "other": Line2D([], [], color=lighter(COOL, 0.6), label="not pruned"),
        "pruned": Line2D([], [], color=lighter(DIM, 0.7), marker="x", markeredgecolor=DIM, label="pruned"),
    }
    legend_above(axes, columns=3, more=[line for kind, line in explained.items() if kind in drawn])
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    axes.set_ylabel(definition.objective)
    tidy(axes)
    entitle(figure, name, "How the trials learned")
    return figure


def draw_slices(name: str, definition: Definition, rows: Sequence[TrialRow]) -> Figure:
    """The trials' values over each setting by itself: later trials are darker, pruned ones are crosses."""
    settings = list(definition.space)[:MOST_SLICES]
    columns = min(_COLUMNS, len(settings))
    lines = -(-len(settings) // columns)
    figure = new_figure(max(2.5 * columns, _NARROWEST), 2.4 * lines + 0.6)
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    shown = [row for row in rows if row.value is not None]
    for place, axes in enumerate(grid.flat):
        if place >= len(settings):
            axes.set_visible(False)
            continue
        _slice(axes, settings[place], definition, shown)
        if place % columns == 0:
            axes.set_ylabel(definition.objective.partition("/")[2].replace("_", " "))
    entitle(figure, f"{name}: later trials are darker, pruned ones are crosses", "Where in the space trials were good")
    return figure


def _slice(axes: Axes, setting: str, definition: Definition, rows: Sequence[TrialRow]) -> None:
    span = definition.space[setting]
    last = max((row.trial for row in rows), default=1) or 1
    rng = np.random.default_rng(0)  # so that trials of one choice do not lie on each other
    for row in rows:
        value = row.settings.get(setting)
        if value is None or row.value is None:
            continue
        place = span.values.index(value) + rng.uniform(-0.15, 0.15) if isinstance(span, Choice) else value
        is_pruned = row.state == "pruned"
        colour = lighter(DIM if is_pruned else COOL, 0.35 + 0.65 * row.trial / last)
        axes.scatter(place, row.value, color=colour, marker="x" if is_pruned else "o", s=22, linewidths=1.2)
    if isinstance(span, Choice):
        labels = ["x".join(str(each) for each in one) if isinstance(one, list) else str(one) for one in span.values]
        is_long = sum(map(len, labels)) > _SHORT_LABELS
        axes.set_xticks(range(len(labels)), labels, rotation=30 if is_long else 0, ha="right" if is_long else "center")
        axes.set_xlim(-0.5, len(labels) - 0.5)
    else:
        _show_span(axes, span)
    axes.set_xlabel(short_name(setting, definition.space), fontsize=9)
    axes.tick_params(labelsize=8)
    tidy(axes)


def _show_span(axes: Axes, span: Range) -> None:
    """All of what was searched, also where no trial has been."""
    if not span.log:
        margin = _MARGIN * (span.high - span.low)
        axes.set_xlim(span.low - margin, span.high + margin)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=span.is_whole))
        return
    factor = (span.high / span.low) ** _MARGIN
    axes.set_xscale("log")
    axes.set_xlim(span.low / factor, span.high * factor)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if span.high > _WIDE * span.low else (1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_importances(name: str, importances: dict[str, float], trials: int) -> Figure:
    """How much of what distinguishes the best trials each setting has, summing to 1."""
    figure = new_figure(7.0, 0.42 * len(importances) + 1.5)
    axes = figure.subplots()
    settings = sorted(importances, key=lambda setting: importances[setting])
    axes.barh([short_name(one, importances) for one in settings], [importances[one] for one in settings], color=COOL)
    for place, one in enumerate(settings):
        axes.annotate(f"{importances[one]:.2f}", (importances[one], place), (4, 0), textcoords="offset points",
                      va="center", fontsize=8)  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(0.0, 1.1 * max(importances.values()))
    axes.set_xlabel("share of the importance (PED-ANOVA)")
    entitle(figure, name, f"Which settings distinguish the best of {trials} trials")
    return figure
