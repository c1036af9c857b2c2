"""Where episodes ended, drawn on a picture of the level, with how many failed where under it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from respawn.contracts.records import Episode
from respawn.contracts.world import Frame
from respawn.errors import VideoError
from respawn.evaluation.plots.figure import BAD, COOL, DIM, GOOD, WARM, new_figure, save_figure, tidy

BIN_PIXELS = 32
_LOOKS = {  # colour and mark of each end
    "flag": (GOOD, "^"),
    "won": (GOOD, "*"),
    "pit": (BAD, "v"),
    "death": (BAD, "X"),
    "time": (WARM, "o"),
    "stall": (WARM, "s"),
}
_OTHER_LOOK = (DIM, "o")
_SCREEN_LINES, _LOWEST_SHOWN = 240, 232
_PIXELS_PER_INCH = 210
"""About one dot of the figure for each pixel of the level."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How and where an episode ended."""

    end: str
    x: float
    y: float
    cleared: bool
    on_map: bool = True
    """False: in a side room or behind a pipe, where x means something else"""


def endings_of(episodes: Sequence[Episode]) -> list[Ending]:
    """What the figure needs of episodes of the Mario world; where an end's area is not told, it is on the map."""
    return [
        Ending(
            episode.end,
            float(episode.facts["end_x"]),
            float(episode.facts["end_y"]),
            cleared=bool(episode.facts["cleared"]),
            on_map=bool(episode.facts.get("in_first_area", True)),
        )
        for episode in episodes
    ]


def draw_level_map(title: str, picture: Frame, first_line: int, endings: Sequence[Ending], path: Path) -> None:
    """Write the figure to a PNG.

    Args:
      title: what was played, and by whom.
      picture: the level, uint8 [height, width, 3]; column 0 is x = 0.
      first_line: of the screen, at which the picture begins.
      endings: one for each episode.
      path: where to.
    """
    if not endings:
        raise VideoError("a map of where episodes end needs at least one episode, and none came; play some")
    width = picture.shape[1]
    title = f"{title}\n{_summary(endings, width)}"
    # Whoever came further than the picture is shown at its edge, so that all who ended on the map are seen and counted.
    endings = [replace(ending, x=min(ending.x, width - 1)) for ending in endings]
    inches = width / _PIXELS_PER_INCH
    figure = new_figure(inches + 1.2, inches * picture.shape[0] / width + 2.6)
    level, below = figure.subplots(2, 1, sharex=True, height_ratios=[inches * picture.shape[0] / width, 1.6])
    level.imshow(picture, extent=(0, width, _SCREEN_LINES, first_line), interpolation="nearest", aspect="auto")
    level.set_xlim(0, width)
    level.set_yticks([])
    level.tick_params(bottom=False)
    level.spines[:].set_visible(False)
    _mark_ends(level, endings)
    _draw_failures(below, endings, width)
    level.set_title(title, loc="left", fontsize=11)
    save_figure(figure, path)


def _mark_ends(axes: Axes, endings: Sequence[Ending]) -> None:
    drawn = [ending for ending in endings if ending.on_map]
    for end in sorted({ending.end for ending in drawn}):
        colour, mark = _LOOKS.get(end, _OTHER_LOOK)
        shown = [ending for ending in drawn if ending.end == end]
        axes.scatter(
            [ending.x for ending in shown],
            # Who falls ends under the picture; the mark stays at its lower edge.
            [min(ending.y, _LOWEST_SHOWN) for ending in shown],
            s=38, c=colour, marker=mark, alpha=0.75, edgecolors="white", linewidths=0.7, label=end, zorder=3,
        )  # fmt: skip
    if drawn:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=8, frameon=False, fontsize=8, handletextpad=0.2)


def _draw_failures(axes: Axes, endings: Sequence[Ending], width: int) -> None:
    """How many failed in each stretch, and how many came past it."""
    failed = [ending for ending in endings if ending.on_map and not ending.cleared]
    edges = np.arange(0, width + BIN_PIXELS, BIN_PIXELS)
    kinds = sorted({ending.end for ending in failed})
    if kinds:
        axes.hist(
            [[ending.x for ending in failed if ending.end == kind] for kind in kinds],
            bins=edges.tolist(), stacked=True, color=[_LOOKS.get(kind, _OTHER_LOOK)[0] for kind in kinds],
        )  # fmt: skip
    axes.set_ylabel("failed here")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylim(bottom=0, top=None if kinds else 1)
    axes.set_xlabel("x (pixels)")
    tidy(axes)
    past = axes.twinx()
    lost = np.sort([ending.x for ending in failed])
    steps = np.concatenate([[0], lost, [width]])
    alive = 1 - np.concatenate([np.arange(len(lost) + 1), [len(lost)]]) / len(endings)
    past.step(steps, alive, where="post", color=COOL, linewidth=1.4)
    past.set_ylim(0, 1.05)
    past.yaxis.set_major_formatter(PercentFormatter(1.0))
    past.set_ylabel("came past", color=COOL)
    past.spines[["top", "left"]].set_visible(False)


def _summary(endings: Sequence[Ending], width: int) -> str:
    counts = Counter(ending.end for ending in endings)
    ends = ", ".join(f"{end} {count}" for end, count in counts.most_common())
    cleared = sum(ending.cleared for ending in endings)
    elsewhere = sum(not ending.on_map for ending in endings)
    beyond = sum(ending.on_map and ending.x >= width for ending in endings)
    note = f"; {elsewhere} ended in another area of the level, not shown" if elsewhere else ""
    note += f"; {beyond} beyond the picture's right edge" if beyond else ""
    return f"{cleared} of {len(endings)} episodes cleared ({ends}){note}"
