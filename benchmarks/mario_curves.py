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
    "mario_levels_learning": "1-1 to 1-4, one policy, PPO",
    "mario_pixels_learning": "from pixels, PPO",
}


def main() -> int:
    found = {path.stem: path for path in sorted(RESULTS.glob("*/mario*_learning.json"))}
    panels = {name: title for name, title in PANELS.items() if name in found}
    for name in PANELS.keys() - panels.keys():
        print(f"no results of {name}, so it has no panel: run benchmarks/mario_learning.py for it", file=sys.stderr)
    if not panels:
        return 1
    figure = new_figure(4 * len(panels), 3.4)
    row: Sequence[Axes] = list(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0])
    for axes, (name, title) in zip(row, panels.items(), strict=True):
        runs = json.loads(found[name].read_text())["runs"]
        # Of a policy for several levels the curve is of them all, and each level's row has it.
        _draw(axes, title, runs if "pixels" in name else [run for run in runs if run["level"] == "1-1"])
    row[0].set_ylabel("cleared, greedy episodes")
    save_figure(figure, PICTURE)
    return 0


def _draw(axes: Axes, title: str, runs: Sequence[Mapping[str, Any]]) -> None:
    several = len({run["level"] for run in runs}) > 1
    for run in runs:
        decisions, cleared = zip(*run["curve"], strict=True)
        label = f"{run['level']}, seed {run['seed']}" if several else f"seed {run['seed']}"
        axes.plot((0, *decisions), (0.0, *cleared), "o-", markersize=3, label=label)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("decisions")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    tidy(axes)


if __name__ == "__main__":
    sys.exit(main())
