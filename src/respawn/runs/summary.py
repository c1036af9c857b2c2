"""What a run's numbers have been of late: for each metric its last value, and mean, spread and extremes over a tail.

Updates and evaluations are summed up apart: a row of one kind never counts among the other.
"""

import math
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean, stdev

from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations, read_updates

WATCHED = {
    "updates": (
        "return/mean", "return/p10", "return/max", "length/mean", "episode/cleared", "episode/x", "episode/survival",
        "world/forward_share", "world/stalled_share", "policy/entropy", "policy/kl", "policy/clip_fraction",
        "policy/rho_mean", "value/explained_variance", "loss/policy", "loss/value", "gradient/norm",
        "gradient/clipped_fraction", "knob/learning_rate", "weights/lag", "replay/fill", "time/decisions_per_second",
        "time/collect_share", "time/learn_share", "time/idle_share",
    ),
    "evaluations": (
        "evaluation/return_mean", "evaluation/return_min", "evaluation/cleared", "evaluation/cleared_open",
        "evaluation/x", "evaluation/survival_mean", "evaluation/survival_worst", "evaluation/length_mean",
        "evaluation/unfinished",
    ),
}  # fmt: skip
"""What an operator looks at first, in the order of looking, by stream."""

READERS: dict[str, Callable[[RunFolder, int | None], Iterable[UpdateReport | EvaluationReport]]] = {
    "updates": read_updates,
    "evaluations": read_evaluations,
}


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over the tail."""

    last: float
    """the newest value, finite or not"""
    mean: float | None
    """of the finite values, as all below; None: there was none"""
    std: float | None
    """between rows (n - 1); 0 where there is one"""
    min: float | None
    max: float | None
    count: int
    """finite values"""
    not_finite: int
    """NaN and infinities, which are in none of the above"""


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """One stream's tail."""

    tail_rows: int
    first_update: int | None
    """of the tail; None: there are no rows"""
    last_update: int | None
    metrics: dict[str, MetricSummary]


def summarise(folder: RunFolder, tail: int, metrics: Sequence[str] = ()) -> dict[str, StreamSummary]:
    """Sum up the last rows of a run's updates and evaluations.

    Args:
      folder: the run, which may be going on.
      tail: how many rows of each stream; 0: all.
      metrics: names, or patterns such as 'time/*'; none: what an operator looks at first.
    """
    return {
        stream: summarise_rows(read(folder, tail or None), tail, metrics or WATCHED[stream])
        for stream, read in READERS.items()
    }


def summarise_rows(
    reports: Iterable[UpdateReport | EvaluationReport], tail: int, metrics: Sequence[str]
) -> StreamSummary:
    """Sum up rows of one kind; metrics come in the order in which they are asked for, and only if a row has them."""
    updates: deque[int] = deque(maxlen=tail or None)
    recent: deque[dict[str, float]] = deque(maxlen=tail or None)
    wanted: dict[str, bool] = {}
    for report in reports:
        updates.append(report.update)
        recent.append({name: value for name, value in report.metrics.items() if _is_wanted(name, metrics, wanted)})
    ordered = in_order(dict.fromkeys(name for row in recent for name in row), metrics)
    values = {name: array("d", (row[name] for row in recent if name in row)) for name in ordered}
    return StreamSummary(
        tail_rows=len(updates),
        first_update=updates[0] if updates else None,
        last_update=updates[-1] if updates else None,
        metrics={name: summarise_values(values[name]) for name in ordered},
    )


def in_order(names: Iterable[str], metrics: Sequence[str]) -> list[str]:
    """Names in the order of the names or patterns that they were asked for by."""
    return sorted(names, key=lambda name: next(at for at, each in enumerate(metrics) if fnmatchcase(name, each)))


def summarise_values(values: Sequence[float]) -> MetricSummary:
    """Sum up the values of one metric, of which there is at least one."""
    finite = [value for value in values if math.isfinite(value)]
    return MetricSummary(
        last=values[-1],
        mean=fmean(finite) if finite else None,
        std=(stdev(finite) if len(finite) > 1 else 0.0) if finite else None,
        min=min(finite, default=None),
        max=max(finite, default=None),
        count=len(finite),
        not_finite=len(values) - len(finite),
    )


def _is_wanted(name: str, patterns: Sequence[str], known: dict[str, bool]) -> bool:
    if name not in known:
        known[name] = any(fnmatchcase(name, pattern) for pattern in patterns)
    return known[name]
