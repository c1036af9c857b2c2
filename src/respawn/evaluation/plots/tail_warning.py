"""Whether the hard starts run out: how much is left, when that was warned of, and when the end is foreseen."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from respawn.evaluation.plots.figure import (
    BAD,
    COOL,
    DIM,
    WARM,
    entitle,
    legend_above,
    new_figure,
    over_updates,
    tidy,
    twin,
)
from respawn.evaluation.plots.shown_run import STAGE_COLOURS, Drawn, ShownRun, marker_for
from respawn.evaluation.run_record import HARD_STARTS, Facts, finite

Row = tuple[int, Facts]


def draw_tail_warning(run: ShownRun) -> Drawn:
    """Everything about the queue of hard starts in one figure."""
    rows: list[Row] = sorted(run.record.rulings[HARD_STARTS].items())
    if not rows:
        return "the run deals no hard starts"
    foreseen = [(update, value) for update, facts in rows if (value := finite(facts.get("predicted_exhaustion")))]
    figure = new_figure(9, 6.6 if foreseen else 4.6)
    panels: list[Axes] = list(
        figure.subplots(2, 1, sharex=True, squeeze=False, height_ratios=[2, 1])[:, 0]
        if foreseen
        else [figure.subplots()]
    )
    upper = panels[0]
    _draw_remaining(upper, run, rows)
    right = twin(upper, "warned for (updates)", WARM)
    durations = [finite(facts.get("warning_duration")) or 0.0 for _, facts in rows]
    right.bar([update for update, _ in rows], durations, width=0.8, color=WARM, alpha=0.55, label="warned for (right)")
    right.set_ylim(0, max(8.0, 2.5 * max(durations)))
    right.yaxis.set_major_locator(MaxNLocator(integer=True))
    # The line is to be seen in front of the bars, so its axes go on top, without a background.
    upper.set_zorder(right.get_zorder() + 1)
    upper.patch.set_visible(False)
    legend_above(upper, right, columns=3)
    if foreseen:
        _draw_forecast(panels[1], run, foreseen)
    over_updates(panels[-1])
    warned = len(run.record.warnings)
    said = {0: "never warned of", 1: "warned of once"}.get(warned, f"warned of {warned} times")
    entitle(figure, run.name, f"Hard starts left: {said}")
    return figure


def _draw_remaining(axes: Axes, run: ShownRun, rows: Sequence[Row]) -> None:
    updates = [update for update, _ in rows]
    mark = marker_for(len(rows))
    axes.plot(
        updates, _numbers(rows, "remaining_ratio"), color=COOL, linewidth=2.2, marker=mark, label="left of the queue"
    )
    kinds = sorted({kind for _, facts in rows for kind in facts.get("remaining_ratio_by_type") or {}})
    if len(kinds) > 1:
        for place, kind in enumerate(kinds):
            parts = [finite((facts.get("remaining_ratio_by_type") or {}).get(kind)) for _, facts in rows]
            colour = STAGE_COLOURS[(place + 2) % len(STAGE_COLOURS)]
            axes.plot(updates, _gaps(parts), color=colour, linewidth=1.2, linestyle="-.", label=f"of it {kind} starts")
    thresholds = _numbers(rows, "warning_threshold")
    if any(value == value for value in thresholds):
        axes.plot(updates, thresholds, color=BAD, linewidth=1.4, linestyle="--", label="warned below")
    for number, (first, last) in enumerate(_active_spans(run.record.warnings, updates[-1])):
        label = "warning active" if number == 0 else "_"
        axes.axvspan(first - 0.5, last + 0.5, color=BAD, alpha=0.12, linewidth=0, label=label)
    axes.set_ylim(0, 1.05)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("left, share of the whole queue")
    tidy(axes)


def _draw_forecast(axes: Axes, run: ShownRun, foreseen: Sequence[tuple[int, float]]) -> None:
    axes.plot(
        *zip(*foreseen, strict=True),
        color=COOL,
        linewidth=1.6,
        marker=".",
        label="empty after update, at the recent rate",
    )
    planned = run.record.planned_updates
    if planned is not None:
        axes.axhline(planned, color=DIM, linewidth=1.2, linestyle="--", label=f"the run ends with update {planned}")
    axes.set_ylim(0, 1.12 * max(planned or 0, *(value for _, value in foreseen)))
    axes.set_ylabel("foreseen end\n(update)")
    tidy(axes)
    legend_above(axes, columns=2)


def _active_spans(warnings: Sequence[Mapping[str, Any]], now: int) -> list[tuple[int, int]]:
    return [(int(warning["iteration"]), int(warning.get("resolved_iteration") or now)) for warning in warnings]


def _numbers(rows: Sequence[Row], name: str) -> list[float]:
    return _gaps([finite(facts.get(name)) for _, facts in rows])


def _gaps(values: Sequence[float | None]) -> list[float]:
    """A gap in the line where a value is not known."""
    return [float("nan") if value is None else value for value in values]
