"""What all figures share: drawn without a screen, in one look, and written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from respawn.errors import VideoError
from respawn.evaluation.out_files import prepare_place, written_aside

DOTS_PER_INCH = 150
SUFFIXES = (".png", ".svg")
GOOD, BAD, COOL, WARM, DIM = "#2a9d5c", "#d64545", "#3a6ea5", "#e08e2b", "#8a8f9c"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in inches; no window is ever opened for it, and nothing is kept of it elsewhere."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def tidy(axes: Axes) -> None:
    """Take away what says nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, axis="y", color="#e4e6eb", linewidth=0.8)
    axes.set_axisbelow(True)


def over_updates(axes: Axes, label: str = "update") -> None:
    """Count updates along the x axis, in whole numbers."""
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10, min_n_ticks=1))


def at_updates(axes: Axes, updates: Sequence[int]) -> None:
    """Mark some updates on the x axis, or some of them where they are too many to be read."""
    every = max(1, -(-len(updates) // 16))
    axes.set_xticks(list(updates)[::every])
    axes.set_xlabel("update after which the probe was made")


def lighter(colour: str, kept: float = 0.5) -> str:
    """A colour with only a part of it kept; unlike one that is seen through, it hides the grid."""
    red, green, blue = (1 - kept * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def entitle(figure: Figure, run: str, said: str) -> None:
    """A title above everything, at the left: what is shown, and of which run."""
    figure.suptitle(f"{said}\n{run}", x=0.01, ha="left", fontsize=11, fontweight="bold", linespacing=1.4)


def legend_above(axes: Axes, *others: Axes, columns: int = 4, more: Sequence[Any] = ()) -> None:
    """One legend for axes that share a place, above them, where it covers nothing.

    Args:
      axes: above which it is put.
      others: whose lines it explains too.
      columns: next to each other.
      more: what else it explains, with labels of their own.
    """
    handles = [handle for each in (axes, *others) for handle in each.get_legend_handles_labels()[0]]
    handles += more
    if not handles:
        return
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, frameon=False, fontsize=9,
        borderaxespad=0.0, handlelength=1.8, columnspacing=1.5,
    )  # fmt: skip


def limit_line(axes: Axes, value: float, label: str, colour: str = BAD) -> Line2D:
    """A limit across the whole of some axes."""
    return axes.axhline(value, color=colour, linewidth=1.1, linestyle="--", label=label)


def twin(axes: Axes, label: str, colour: str) -> Axes:
    """A second y axis at the right, in the colour of what it measures; the grid stays that of the left one."""
    right = axes.twinx()
    right.set_ylabel(label, color=colour)
    right.tick_params(axis="y", colors=colour)
    right.spines[["top", "left"]].set_visible(False)
    return right


def check_figure_path(path: Path) -> None:
    """Refuse a file that could not be written, before anything is played for it."""
    if path.suffix.lower() not in SUFFIXES:
        raise VideoError(f"a figure is written as {' or '.join(SUFFIXES)}, and {path.name!r} came; name another file")
    if path.is_dir():
        raise VideoError(f"a figure needs a file's name, and {path} is a folder; name a file in it")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG or an SVG, as the file's name says; an older one at its place is replaced.

    The same figure makes the same bytes: an SVG would else be stamped with the time and have names by chance.
    """
    check_figure_path(path)
    prepare_place(path)
    kind = path.suffix.lower().removeprefix(".")
    with written_aside(path) as aside, matplotlib.rc_context({"svg.hashsalt": "respawn"}):
        figure.savefig(aside, format=kind, metadata={"Date": None} if kind == "svg" else None)
