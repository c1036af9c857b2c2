"""What the penalty gate saw at each probe, the limits it went by, and what it decided."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from respawn.evaluation.plots.figure import (
    BAD,
    COOL,
    DIM,
    GOOD,
    WARM,
    at_updates,
    entitle,
    legend_above,
    new_figure,
    tidy,
)
from respawn.evaluation.plots.shown_run import Drawn, ShownRun
from respawn.evaluation.run_record import GATE, GATE_GROUNDS, Facts, finite
from respawn.schedules.gate_config import DEATH_P10, EARLY_DEATH, STEP_ONE_RATIO, SURVIVAL_MEAN, SURVIVAL_WORST

EVENTS = ("rollback", "failure_hold", "locked", "frozen", "undecided", "noop", "success_progress", "advance")
"""from the worst to the best, as they are stacked"""
_COLOURS = {"rollback": BAD, "failure_hold": BAD, "success_progress": GOOD, "advance": GOOD, "noop": DIM}
_PANELS = {
    DEATH_P10: "a tenth is\ndead by (step)",
    EARLY_DEATH: "dead before\nstep 100",
    SURVIVAL_MEAN: "survival,\nmean",
    SURVIVAL_WORST: "survival,\nworst episode",
}
_MEDIANS = {
    DEATH_P10: ("rolling_p10_median", "rolling_p10_median_stage"),
    EARLY_DEATH: ("rolling_early_death_median", "rolling_early_death_median_stage"),
}

Row = tuple[int, Facts]


def draw_gate_timeline(run: ShownRun) -> Drawn:
    """A panel for each thing that the gate looks at, and one for what it decided."""
    rows: list[Row] = sorted(run.record.rulings[GATE].items())
    if not rows:
        return "no penalty gate has ruled yet"
    shown = [metric for metric in _PANELS if _is_judged(run, rows, metric)]
    figure = new_figure(9, 3.1 + 1.75 * len(shown))
    heights = [1.0] * len(shown) + [1.1, 0.6]
    panels: list[Axes] = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
    for axes, metric in zip(panels, shown, strict=False):
        _draw_metric(axes, run, rows, metric)
    _draw_events(panels[-2], rows)
    _draw_stage(panels[-1], rows)
    at_updates(panels[-1], [update for update, _ in rows])
    stage = rows[-1][1].get("stage")
    entitle(figure, run.name, f"Penalty gate: {len(rows)} rulings, stage {stage} at the end")
    return figure


def _draw_metric(axes: Axes, run: ShownRun, rows: Sequence[Row], metric: str) -> None:
    axes.plot(*_points(_values(run, rows, metric)), "o-", color=COOL, linewidth=1.4, markersize=5, label="the probe")
    for name, style, label in zip(
        _MEDIANS.get(metric, ()), ("-", "-."), ("median", "median of this kind"), strict=False
    ):
        medians = [(update, finite(facts.get(name))) for update, facts in rows]
        if any(value is not None for _, value in medians):
            axes.plot(*_points(medians), style, color=WARM, linewidth=1.4, marker="D", markersize=3.5, label=label)
    for side, colour, label in (("success", GOOD, "success limit"), ("failure", BAD, "failure limit")):
        limits = [(update, _limit(run, update, side, metric)) for update, _ in rows]
        if any(value is not None for _, value in limits):
            axes.plot(
                *_points(limits), "--", color=colour, linewidth=1.2, marker="_", label=label, drawstyle="steps-mid"
            )
    axes.set_ylabel(_PANELS[metric])
    if metric != DEATH_P10:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.margins(y=0.15)
    tidy(axes)
    legend_above(axes, columns=5)


def _draw_events(axes: Axes, rows: Sequence[Row]) -> None:
    """What was decided, each decision on a line of its own."""
    decided = [str(facts.get("event")) for _, facts in rows]
    lines = [event for event in (*EVENTS, *sorted(set(decided) - set(EVENTS))) if event in decided]
    for event in lines:
        where = [update for (update, _), each in zip(rows, decided, strict=True) if each == event]
        colour = _COLOURS.get(event, WARM)
        axes.scatter(where, [lines.index(event)] * len(where), s=70, color=colour, edgecolors="white", zorder=3)
    axes.set_yticks(range(len(lines)), [event.replace("_", " ") for event in lines])
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.set_ylabel("decided")
    tidy(axes)


def _draw_stage(axes: Axes, rows: Sequence[Row]) -> None:
    """The stage that was open after each decision."""
    stages = [(update, finite(facts.get("stage"))) for update, facts in rows]
    axes.step(*_points(stages), where="post", color=COOL, linewidth=1.6, marker="o", markersize=4)
    highest = int(max((value or 0.0 for _, value in stages), default=0.0))
    axes.set_ylim(-0.4, highest + 0.9)
    axes.set_yticks(range(highest + 2))
    axes.set_ylabel("open\nstage")
    tidy(axes)


def _is_judged(run: ShownRun, rows: Sequence[Row], metric: str) -> bool:
    """Whether the gate goes by it; where it does not say what it goes by, whatever is known is shown."""
    if not _values(run, rows, metric):
        return False
    if not run.record.rulings[GATE_GROUNDS]:
        return True
    return any(entry.get("metric") == metric for update, _ in rows for entry in _grounds(run, update))


def _values(run: ShownRun, rows: Sequence[Row], metric: str) -> list[tuple[int, float | None]]:
    """What the gate was shown: its own word, or the probe's where it keeps none."""
    found = []
    for update, _ in rows:
        told = (finite(entry.get("value")) for entry in _grounds(run, update) if entry.get("metric") == metric)
        value = next((each for each in told if each is not None), None)
        found.append((update, _from_probe(run, update, metric) if value is None else value))
    return [pair for pair in found if pair[1] is not None]


def _from_probe(run: ShownRun, update: int, metric: str) -> float | None:
    probe = next((each for each in run.probes if each.iteration == update), None)
    if probe is None:
        return None
    return finite(
        {
            DEATH_P10: (probe.death_stats or {}).get("p10"),
            EARLY_DEATH: (probe.death_stats or {}).get("early_death_fraction_100"),
            SURVIVAL_MEAN: (probe.summary or {}).get("avg_final_survival_rate"),
            SURVIVAL_WORST: (probe.summary or {}).get("min_final_survival_rate"),
            STEP_ONE_RATIO: probe.step_one_ratio,
        }[metric]
    )


def _limit(run: ShownRun, update: int, side: str, metric: str) -> float | None:
    grounds = run.record.ruling(GATE_GROUNDS, update).get(side) or ()
    told = next((finite(entry.get("limit")) for entry in grounds if entry.get("metric") == metric), None)
    if told is None and side == "success" and metric == EARLY_DEATH:
        return finite(run.record.ruling(GATE, update).get("early_death_threshold"))
    return told


def _grounds(run: ShownRun, update: int) -> Iterator[Facts]:
    facts = run.record.ruling(GATE_GROUNDS, update)
    for side in ("success", "failure"):
        yield from facts.get(side) or ()


def _points(pairs: Sequence[tuple[int, float | None]]) -> tuple[list[int], list[float]]:
    known = [(update, value) for update, value in pairs if value is not None]
    return [update for update, _ in known], [value for _, value in known]
