"""The learning curve as a film: it grows by a frame for each update."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from respawn.evaluation.plots.figure import COOL, GOOD, WARM, entitle, legend_above, new_figure, over_updates, tidy
from respawn.evaluation.plots.fish_training import SURVIVAL
from respawn.evaluation.plots.shown_run import ShownRun

SECONDS_A_FRAME = 0.4
MOST_FRAMES = 60
MOST_BYTES = 2 << 20
_DOTS_PER_INCH = 100
_RETURN = "return/mean"


def draw_curve_film(run: ShownRun, path: Path) -> str | None:
    """Write the film; answers why there is none, if so.

    Args:
      run: the run.
      path: a .gif or .mp4.
    """
    if max(len(run.points(SURVIVAL)[0]), len(run.points(_RETURN)[0])) < 2:
        return "fewer than two updates tell of finished episodes"
    # Imported only now: it loads torch, and figures need none.
    from respawn.evaluation.video import write_film

    write_film(path, _frames(run), frames_per_second=1 / SECONDS_A_FRAME, most_gif_bytes=MOST_BYTES)
    return None


def _frames(run: ShownRun) -> "Iterator[np.ndarray[Any, np.dtype[np.uint8]]]":
    """One frame for each update, or for every so-many-th of a long run; the last one is held for a while."""
    figure = new_figure(8, 5.0)
    figure.set_dpi(_DOTS_PER_INCH)
    canvas: Any = figure.canvas  # matplotlib's own type tells nothing of what it can draw
    lines = _lines(run, figure)
    updates = sorted({update for xs, _, _ in lines for update in xs})
    canvas.draw()
    figure.set_layout_engine("none")  # found once; the frames must not move against each other
    every = -(-len(updates) // MOST_FRAMES)
    shown = [*updates[:-1:every], updates[-1]]
    for update in shown:
        for xs, ys, line in lines:
            count = sum(x <= update for x in xs)
            line.set_data(xs[:count], ys[:count])
        canvas.draw()
        frame = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        for _ in range(5 if update == shown[-1] else 1):
            yield frame


def _lines(run: ShownRun, figure: Figure) -> list[tuple[list[int], list[float], Line2D]]:
    """Axes with everything on them, so that they need not change as the lines grow."""
    survival, returns = run.points(SURVIVAL), run.points(_RETURN)
    panels: list[Axes] = list(
        figure.subplots(bool(survival[0]) + bool(returns[0]), 1, sharex=True, squeeze=False)[:, 0]
    )
    drawn = []
    if survival[0]:
        drawn.append(_line(panels[0], survival, COOL, "-", "survival in training"))
        judged = _judged(run)
        if judged[0]:
            drawn.append(_line(panels[0], judged, GOOD, "o-", "survival in probes"))
        panels[0].set_ylim(0, 1.05)
        panels[0].yaxis.set_major_formatter(PercentFormatter(1.0))
        panels[0].set_ylabel("survival")
    if returns[0]:
        drawn.append(_line(panels[-1], returns, WARM, "-", "return in training"))
        panels[-1].set_ylabel("return")
    for axes in panels:
        tidy(axes)
        legend_above(axes)
    panels[-1].set_xlim(0, 1.02 * max(xs[-1] for xs, _, _ in drawn))
    over_updates(panels[-1])
    entitle(figure, run.name, "How it learned")
    return drawn


def _line(
    axes: Axes, points: tuple[list[int], list[float]], colour: str, style: str, label: str
) -> tuple[list[int], list[float], Line2D]:
    (line,) = axes.plot(*points, style, color=colour, linewidth=2.0, markersize=6, label=label)
    return (*points, line)


def _judged(run: ShownRun) -> tuple[list[int], list[float]]:
    known = [(probe.iteration, (probe.summary or {}).get("avg_final_survival_rate")) for probe in run.probes]
    pairs = [(update, float(value)) for update, value in known if value is not None]
    return [update for update, _ in pairs], [value for _, value in pairs]
