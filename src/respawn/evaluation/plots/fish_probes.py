"""How probes judged the run: the timeline, and when fish died in each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from respawn.evaluation.artefacts.probe_views import ProbeView
from respawn.evaluation.fish_statistics import EARLY_STEPS, last_steps
from respawn.evaluation.plots.figure import (
    BAD,
    COOL,
    DIM,
    GOOD,
    WARM,
    at_updates,
    entitle,
    legend_above,
    lighter,
    new_figure,
    tidy,
    twin,
)
from respawn.evaluation.plots.shown_run import Drawn, ShownRun
from respawn.evaluation.run_record import finite

BIN_STEPS = 25
NO_PROBES = "no probe has been made yet"
_NO_DEATHS = "no probe tells when fish died"


def draw_probe_timeline(run: ShownRun) -> Drawn:
    """Survival, the worst episode, early deaths and the 10th percentile of deaths, probe by probe."""
    probes = [probe for probe in run.probes if probe.summary or probe.death_stats]
    if not probes:
        return NO_PROBES
    figure = new_figure(9, 4.6)
    axes = figure.subplots()
    lines = (
        ("summary", "avg_final_survival_rate", COOL, "o-", "survival, mean"),
        ("summary", "min_final_survival_rate", GOOD, "s-", "survival, worst episode"),
        ("death_stats", "early_death_fraction_100", BAD, "v-", "dead before step 100"),
    )
    for group, name, colour, style, label in lines:
        axes.plot(*_told(probes, group, name), style, color=colour, linewidth=1.6, markersize=5, label=label)
    axes.set_ylim(0, 1.05)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("share of fish")
    tidy(axes)
    run.mark_phases(axes)
    at_updates(axes, [probe.iteration for probe in probes])
    right = twin(axes, "10th percentile of deaths (step)", WARM)
    updates, p10 = _told(probes, "death_stats", "p10")
    right.plot(updates, p10, "D--", color=WARM, linewidth=1.4, markersize=5, label="a tenth is dead by (right)")
    right.set_ylim(0, 1.05 * max(probe.limit_steps for probe in probes))
    legend_above(axes, right, columns=3)
    entitle(figure, run.name, f"Probes: {_protocol(probes[-1])}")
    return figure


def draw_probe_deaths(run: ShownRun, probe: ProbeView) -> Drawn:
    """When fish died in one probe."""
    if not any(probe.death_timesteps):
        return _NO_DEATHS
    figure = new_figure(9, 4.2)
    axes = figure.subplots()
    _draw_deaths(axes, probe)
    legend_above(axes, columns=4)
    entitle(
        figure, run.name, f"When fish died: probe after update {probe.iteration}, {_protocol(probe)}\n{_told_of(probe)}"
    )
    return figure


def draw_death_histogram(run: ShownRun) -> Drawn:
    """When fish died in the last probe, and how many were left over time in the first and the last."""
    probes = [probe for probe in run.probes if any(probe.death_timesteps)]
    if not probes:
        return _NO_DEATHS if run.probes else NO_PROBES
    last = probes[-1]
    figure = new_figure(9, 6.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, 1.1])
    _draw_deaths(upper, last)
    upper.set_xlabel("")
    legend_above(upper, columns=4)
    for probe, colour, style in ((probes[0], DIM, "--"), (last, COOL, "-"))[len(probes) == 1 :]:
        lived = np.sort(last_steps(probe.death_timesteps, probe.limit_steps))
        left = 1.0 - np.searchsorted(lived, np.arange(probe.limit_steps), side="right") / len(lived)
        label = f"probe after update {probe.iteration}"
        lower.plot(np.arange(probe.limit_steps), left, style, color=colour, linewidth=1.8, label=label)
    _steps_along(lower, last.limit_steps)
    lower.set_ylim(0, 1.05)
    lower.yaxis.set_major_formatter(PercentFormatter(1.0))
    lower.set_ylabel("fish alive")
    tidy(lower)
    legend_above(lower)
    said = f"When fish died: last probe (update {last.iteration}), {_protocol(last)}\n{_told_of(last)}"
    entitle(figure, run.name, said)
    return figure


def _draw_deaths(axes: Axes, probe: ProbeView) -> None:
    limit = probe.limit_steps
    lived = np.asarray(last_steps(probe.death_timesteps, limit))
    dead = lived[lived < limit]
    edges = np.arange(0, limit + BIN_STEPS, BIN_STEPS)
    axes.hist(
        dead, bins=edges.tolist(), weights=np.full(len(dead), 1 / len(lived)), color=lighter(COOL), edgecolor="white"
    )
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel(f"died, in {BIN_STEPS} steps each")
    _steps_along(axes, limit)
    tidy(axes)
    stats = probe.death_stats or {}
    p10 = finite(stats.get("p10"))
    if p10 is not None and p10 < limit:
        axes.axvline(p10, color=WARM, linewidth=1.6, linestyle="--", label=f"a tenth is dead by step {p10:g}")
    early = finite(stats.get(f"early_death_fraction_{EARLY_STEPS[0]}"))
    if early is not None:
        axes.axvline(EARLY_STEPS[0], color=BAD, linewidth=1.4, linestyle=":", label=f"{early:.1%} before step 100")


def _told_of(probe: ProbeView) -> str:
    """Who has no bar that could be read: survivors would flatten all others, and the first step is one of 25."""
    lived = np.asarray(last_steps(probe.death_timesteps, probe.limit_steps))
    survived, at_once = float((lived >= probe.limit_steps).mean()), int((lived == 1).sum())
    return f"{survived:.1%} survived, {at_once} of {len(lived):,} fish died in step 1"


def _steps_along(axes: Axes, limit: int) -> None:
    axes.set_xlim(0, limit)
    axes.set_xticks(range(0, limit + 1, max(limit // 10, 1)))
    axes.set_xlabel("step of the episode")


def _told(probes: Sequence[ProbeView], group: str, name: str) -> tuple[list[int], list[float]]:
    known = [(probe.iteration, finite((getattr(probe, group) or {}).get(name))) for probe in probes]
    pairs = [(iteration, value) for iteration, value in known if value is not None]
    return [iteration for iteration, _ in pairs], [value for _, value in pairs]


def _protocol(probe: ProbeView) -> str:
    episodes, fish = probe.fact("episodes"), probe.fact("num_fish")
    how = {True: ", the likeliest actions", False: ", drawn actions"}.get(probe.fact("greedy"), "")
    return f"{episodes} episodes of {fish} fish{how}" if episodes and fish else f"update {probe.iteration}"
