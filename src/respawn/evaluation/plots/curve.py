"""How a run learned: clear rate, return and distance over decisions, read from its folder."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, PercentFormatter

from respawn.contracts.records import EpisodeReport, EvaluationReport, UpdateReport
from respawn.errors import RunFolderError
from respawn.evaluation.plots.figure import COOL, DIM, WARM, new_figure, save_figure, tidy
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_episodes, read_evaluations, read_updates

WINDOW = 100
"""Episodes of training that a point averages, as in docs/metrics.md."""

_PANELS = {"cleared": "levels cleared", "return": "return", "x": "furthest x (pixels)"}
_EVALUATED = {"cleared": "evaluation/cleared", "return": "evaluation/return_mean", "x": "evaluation/x"}


@dataclass
class Curve:
    """One line: a value after each of some numbers of decisions."""

    decisions: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, decisions: int, value: float) -> None:
        """One more point."""
        self.decisions.append(decisions)
        self.values.append(value)


def draw_learning_curve(folder: RunFolder, path: Path) -> None:
    """Write the learning curve of a run to a PNG.

    Panels are drawn for what the run's world tells: every world has returns, Mario also clears levels and gets far.

    Args:
      folder: the run, which may be going on.
      path: where to.
    """
    trained = training_curves(read_updates(folder), read_episodes(folder))
    judged = evaluation_curves(read_evaluations(folder))
    shown = [name for name in _PANELS if trained[name].values or judged[name].values]
    if not shown:
        raise RunFolderError(f"run {folder.name} has finished no episode yet, so there is no curve; train it longer")
    figure = new_figure(9, 1 + 2.3 * len(shown))
    panels: list[Axes] = list(figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0])
    for axes, name in zip(panels, shown, strict=True):
        _draw_panel(axes, name, trained[name], judged[name])
    panels[0].set_title(folder.name, loc="left", fontsize=11, fontweight="bold")
    panels[0].legend(loc="best", frameon=False, fontsize=9)
    panels[-1].set_xlabel("decisions")
    panels[-1].xaxis.set_major_formatter(EngFormatter(sep=""))
    save_figure(figure, path)


def training_curves(updates: Iterable[UpdateReport], episodes: Iterable[EpisodeReport]) -> dict[str, Curve]:
    """What the agent did while it explored, averaged over the last hundred episodes at each update that ended one."""
    curves = {name: Curve() for name in _PANELS}
    recent: dict[str, deque[float]] = {name: deque(maxlen=WINDOW) for name in _PANELS}
    waiting = iter(episodes)
    next_episode = next(waiting, None)
    for update in updates:
        ended = False
        while next_episode is not None and next_episode.update <= update.update:
            _remember(recent, next_episode)
            ended = True
            next_episode = next(waiting, None)
        for name, values in recent.items():
            if ended and values:
                curves[name].add(update.decisions, fmean(values))
    return curves


def evaluation_curves(evaluations: Iterable[EvaluationReport]) -> dict[str, Curve]:
    """How the agent was judged."""
    curves = {name: Curve() for name in _PANELS}
    for report in evaluations:
        for name, metric in _EVALUATED.items():
            if metric in report.metrics:
                curves[name].add(report.decisions, report.metrics[metric])
    return curves


def _remember(recent: dict[str, deque[float]], report: EpisodeReport) -> None:
    recent["return"].append(report.episode.episode_return)
    for name in ("cleared", "x"):
        fact = report.episode.facts.get(name)
        if isinstance(fact, int | float):
            recent[name].append(float(fact))


def _draw_panel(axes: Axes, name: str, trained: Curve, judged: Curve) -> None:
    axes.plot(trained.decisions, trained.values, color=COOL, linewidth=1.6, label=f"training, last {WINDOW} episodes")
    axes.plot(judged.decisions, judged.values, "o-", color=WARM, linewidth=1.2, markersize=4, label="evaluations")
    axes.set_ylabel(_PANELS[name])
    tidy(axes)
    if name == "cleared":
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        first = next((at for at, rate in zip(trained.decisions, trained.values, strict=True) if rate > 0), None)
        if first is not None:
            # Told in the legend, which keeps clear of the lines wherever they run.
            axes.axvline(first, color=DIM, linewidth=0.8, linestyle=":", label=f"first clear: {first:,} decisions")
