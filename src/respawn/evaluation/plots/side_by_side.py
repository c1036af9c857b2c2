"""Several runs in one picture: a panel for each metric, a line for each run, over decisions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from pathlib import Path
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, PercentFormatter

from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.errors import RunFolderError
from respawn.evaluation.plots.curve import Curve
from respawn.evaluation.plots.figure import BAD, COOL, DIM, GOOD, WARM, new_figure, save_figure, tidy
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations, read_updates

COLOURS = (COOL, WARM, GOOD, BAD, "#7a4fa3", "#00838f", "#8d5a34", DIM)
MOST_POINTS = 400
"""More than this would only be drawn over each other: neighbours are averaged."""
_SHARES = ("cleared", "survival", "_share", "_fraction")
_BANDS = {
    "return/mean": ("return/p10", "return/p90"),
    "evaluation/return_mean": ("evaluation/return_low", "evaluation/return_high"),
    "evaluation/survival_mean": ("evaluation/survival_low", "evaluation/survival_high"),
}
"""What lies round a mean: nine tenths of the episodes either way, or the 95 % interval."""
_BAND_WORDS = {"return/mean": "10 % to 90 % of episodes", "evaluation/return_mean": "95 % interval"}
_MOST_BANDS = 3
"""With more runs than this, bands hide each other."""


@dataclass
class RunCurves:
    """One run's curves by metric."""

    label: str
    curves: dict[str, Curve] = field(default_factory=dict)


def read_curves(label: str, folder: RunFolder, metrics: Sequence[str]) -> RunCurves:
    """The values of some metrics, and of what lies round them, after each number of decisions."""
    wanted = {*metrics, *(side for name in metrics for side in _BANDS.get(name, ()))}
    found = RunCurves(label)
    reports: Iterable[UpdateReport | EvaluationReport] = chain(read_updates(folder), read_evaluations(folder))
    for report in reports:
        for name in wanted & report.metrics.keys():
            if isfinite(report.metrics[name]):
                found.curves.setdefault(name, Curve()).add(report.decisions, report.metrics[name])
    return found


def draw_side_by_side(folders: Mapping[str, RunFolder], metrics: Sequence[str], path: Path, title: str) -> None:
    """Write a picture with a panel for each metric that any of the runs has.

    Args:
      folders: the runs, by what they are called in the picture.
      metrics: names of metrics of updates and evaluations.
      path: where to, a PNG or an SVG.
      title: above it all.
    """
    runs = [read_curves(label, folder, metrics) for label, folder in folders.items()]
    shown = [name for name in metrics if any(name in run.curves for run in runs)]
    if not shown:
        named = "run" if len(runs) == 1 else "runs"
        raise RunFolderError(f"there is nothing to draw yet of the {named} {', '.join(folders)}; train longer")
    across = 1 if len(shown) < 4 else 2 if len(shown) < 9 else 3
    down = -(-len(shown) // across)
    figure = new_figure(9 if across == 1 else 5.2 * across, 0.9 + (2.7 if across == 1 else 2.1) * down)
    grid = figure.subplots(down, across, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for axes, name in zip(panels, shown, strict=False):
        _draw_panel(axes, name, runs)
    farthest = max(curve.decisions[-1] for run in runs for curve in run.curves.values())
    for axes in panels:
        axes.set_xlim(0, 1.02 * farthest)  # the same everywhere, so that panels can be read against each other
    for spare in panels[len(shown) :]:
        spare.set_visible(False)
    for axes in panels[max(0, len(shown) - across) : len(shown)]:
        axes.set_xlabel("decisions")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles = [Line2D([], [], color=_colour(at), linewidth=2, label=run.label) for at, run in enumerate(runs)]
    figure.legend(handles=handles, loc="outside upper right", ncols=min(len(runs), 4), frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw_panel(axes: Axes, name: str, runs: Sequence[RunCurves]) -> None:
    is_judged = name.startswith("evaluation/")
    for at, run in enumerate(runs):
        curve = run.curves.get(name)
        if curve is None:
            continue
        thin = thinned(curve, MOST_POINTS)
        few = len(thin.values) <= 40
        marker = "o" if few and (is_judged or len(thin.values) == 1) else ""
        axes.plot(thin.decisions, thin.values, color=_colour(at), linewidth=1.6, marker=marker, markersize=3.5)
        if len(runs) <= _MOST_BANDS:
            _draw_band(axes, name, run, _colour(at))
    said = _BAND_WORDS.get(name, "") if len(runs) <= _MOST_BANDS else ""
    axes.set_title(f"{name}  ({said})" if said else name, loc="left", fontsize=9)
    tidy(axes)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if any(word in name for word in _SHARES):
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _draw_band(axes: Axes, name: str, run: RunCurves, colour: str) -> None:
    low, high = (run.curves.get(side) for side in _BANDS.get(name, ("", "")))
    if low is not None and high is not None and low.decisions == high.decisions:
        low, high = thinned(low, MOST_POINTS), thinned(high, MOST_POINTS)
        axes.fill_between(low.decisions, low.values, high.values, color=colour, alpha=0.14, linewidth=0)


def thinned(curve: Curve, most: int) -> Curve:
    """A curve of at most so many points, each the mean of some neighbours at the place of the last of them."""
    every = -(-len(curve.values) // most)
    if every <= 1:
        return curve
    starts = range(0, len(curve.values), every)
    return Curve(
        [curve.decisions[min(start + every, len(curve.decisions)) - 1] for start in starts],
        [fmean(curve.values[start : start + every]) for start in starts],
    )


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]
