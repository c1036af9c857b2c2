"""Draw docs/pictures/mario-curves.png from the kept results: how often each run cleared its level, while it learned."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, PercentFormatter

from harness import RESULTS
from respawn.evaluation.plots.figure import new_figure, save_figure, tidy

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "mario-curves.png"
PANELS = {
    "mario_learning": "1-1 from tiles, PPO",
    "mario_vtrace_learning": "1-1 from tiles, V-trace and GRU",
    "mario_pixels_learning": "from pixels, PPO",
}


def main() -> int:
    found = {path.stem: path for path in sorted(RESULTS.glob("*/mario*_learning.json"))}
    missing = [name for name in PANELS if name not in found]
    if missing:
        print(f"no results of {', '.join(missing)}: run benchmarks/mario_learning.py for them", file=sys.stderr)
        return 1
    figure = new_figure(12, 3.4)
    row: Sequence[Axes] = list(figure.subplots(1, len(PANELS), sharey=True))
    for axes, (name, title) in zip(row, PANELS.items(), strict=True):
        runs = json.loads(found[name].read_text())["runs"]
        _draw(axes, title, runs if "pixels" in name else [run for run in runs if run["level"] == "1-1"])
    row[0].set_ylabel("cleared, 40 greedy episodes")
    save_figure(figure, PICTURE)
    return 0


def _draw(axes: Axes, title: str, runs: Sequence[Mapping[str, Any]]) -> None:
    for run in runs:
        decisions, cleared = zip(*run["curve"], strict=True)
        axes.plot((0, *decisions), (0.0, *cleared), "o-", markersize=3, label=f"{run['level']}, seed {run['seed']}")
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("decisions")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    tidy(axes)


if __name__ == "__main__":
    sys.exit(main())
