"""Deaths in the very first step: from where the predator came, and under which kind of hard starts."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Patch

from respawn.evaluation.artefacts.probe_views import all_step_one_deaths
from respawn.evaluation.plots.figure import DIM, entitle, legend_above, lighter, new_figure, tidy
from respawn.evaluation.plots.fish_probes import NO_PROBES
from respawn.evaluation.plots.shown_run import Drawn, ShownRun
from respawn.evaluation.step_one_statistics import heading_and_speed, stage_summary

BINS = 12
_NOBODY = "nobody died in the first step of a probe"


def draw_heading_polar(run: ShownRun) -> Drawn:
    """Headings of the predators that caught somebody in the first step, weighted by their speed."""
    told = [pair for death in all_step_one_deaths(run.probes) if (pair := heading_and_speed(death)) is not None]
    if not told:
        return _NOBODY if run.probes else NO_PROBES
    bins = [int(heading // (360 / BINS)) for heading, _ in told]
    weights = np.bincount(bins, weights=[speed for _, speed in told], minlength=BINS)
    counts = np.bincount(bins, minlength=BINS)
    mean_speeds = np.divide(weights, counts, out=np.zeros(BINS), where=counts > 0)
    colours = Normalize(0.0, math.ceil(5 * float(mean_speeds.max())) / 5 or 1.0)
    mapped = ScalarMappable(colours, "viridis")
    figure = new_figure(7.5, 6.2)
    axes = figure.add_subplot(projection="polar")
    middles = np.radians((np.arange(BINS) + 0.5) * 360 / BINS)
    axes.bar(
        middles, weights, width=math.radians(360 / BINS), color=mapped.to_rgba(mean_speeds), edgecolor="white",
        linewidth=1.2, zorder=2,
    )  # fmt: skip
    axes.set_xticks(np.radians(np.arange(0, 360, 30)))
    axes.tick_params(axis="x", pad=7)
    # Numbers of the rings stand in the emptiest direction, so that no bar lies under them.
    axes.set_rlabel_position(float(np.degrees(middles[int(weights.argmin())])))  # type: ignore[attr-defined]
    axes.tick_params(axis="y", labelsize=8, labelcolor="#555a66")
    axes.grid(color="#dfe2e8", linewidth=0.8)
    axes.spines["polar"].set_color("#dfe2e8")
    bar = figure.colorbar(mapped, ax=axes, shrink=0.7, pad=0.1)
    bar.set_label("mean speed of the predator (units a second)")
    said = f"Predators' headings at {len(told)} deaths in the first step, weighted by speed"
    entitle(figure, run.name, f"{said}\nrings: sum of speeds; 0° is east, 90° is up, where the predator falls to")
    return figure


def draw_stage_distribution(run: ShownRun) -> Drawn:
    """Deaths in the first step of each probe, and of all by the kind of hard starts in training."""
    deaths = all_step_one_deaths(run.probes)
    if not deaths:
        return _NOBODY if run.probes else NO_PROBES
    figure = new_figure(9, 6.2)
    upper, lower = figure.subplots(2, 1, height_ratios=[2.6, 1.0])
    told_doomed = _draw_bars(upper, run)
    patches = [Patch(color=colour, label=f"{kind} starts in training") for kind, colour in run.stage_colours.items()]
    if told_doomed:
        patches.append(Patch(color=lighter(DIM), label="light: nothing could have saved them"))
    legend_above(upper, more=patches, columns=3)
    _draw_shares(lower, run, deaths)
    entitle(figure, run.name, f"{len(deaths)} deaths in the first step, in {len(run.probes)} probes")
    return figure


def _draw_bars(axes: Axes, run: ShownRun) -> bool:
    """A bar for each probe; answers whether any tells who could not have been saved."""
    told_doomed = False
    for place, probe in enumerate(run.probes):
        base = 0
        by_kind: dict[str, int] = {}
        for death in probe.step_one_deaths:
            by_kind[death["tail_stage_type"]] = by_kind.get(death["tail_stage_type"], 0) + 1
        for kind, count in sorted(by_kind.items()):
            doomed = min(probe.doomed_count or 0, count)
            told_doomed = told_doomed or doomed > 0
            colour = run.stage_colours[kind]
            axes.bar(place, doomed, bottom=base, width=0.7, color=lighter(colour))
            axes.bar(place, count - doomed, bottom=base + doomed, width=0.7, color=colour)
            base += count
        axes.annotate(str(base), (place, base), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=8)
    every = max(1, math.ceil(len(run.probes) / 16))
    axes.set_xticks(range(0, len(run.probes), every), [str(probe.iteration) for probe in run.probes[::every]])
    axes.set_xlabel("update after which the probe was made")
    axes.set_ylabel("fish that died in step 1")
    axes.margins(y=0.12)
    tidy(axes)
    return told_doomed


def _draw_shares(axes: Axes, run: ShownRun, deaths: list[dict[str, object]]) -> None:
    """All probes together, one bar across."""
    left = 0.0
    words = []
    for stage in stage_summary(deaths)["stages"]:
        kind, share = stage["stage_type"], stage["share"]
        axes.barh(0, share, left=left, height=0.6, color=run.stage_colours[kind], edgecolor="white")
        words.append(f"{kind}: {stage['count']} ({share:.1%})")
        left += share
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.5, 0.5)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of all probes' deaths in the first step")
    # Above the bar and not in it: a narrow part has no room for words.
    axes.set_title(";  ".join(words), loc="left", fontsize=10)
