"""What all figures share: drawn without a screen, in one look, and written whole or not at all."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from respawn.errors import VideoError
from respawn.evaluation.out_files import prepare_place, written_aside

DOTS_PER_INCH = 150
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


def check_figure_path(path: Path) -> None:
    """Refuse a file that could not be written, before anything is played for it."""
    if path.suffix.lower() != ".png":
        raise VideoError(f"a figure is written as .png, and {path.name!r} came; name another file")
    if path.is_dir():
        raise VideoError(f"a figure needs a file's name, and {path} is a folder; name a file in it")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG; an older one at its place is replaced."""
    check_figure_path(path)
    prepare_place(path)
    with written_aside(path) as aside:
        figure.savefig(aside, format="png")
