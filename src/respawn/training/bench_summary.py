"""What the turns of a cell come to: a row for each of its entries, with the columns that all benches share."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from respawn.training.bench_matrix import Result
from respawn.training.bench_process import Measured

COLUMNS = (
    "mode", "num_envs", "rollout", "steps_per_sec_mean", "updates_per_sec_mean", "replay_fill_final",
    "gpu_util_mean_window", "duration_sec", "error",
    "lag", "actors", "threads", "collect_share", "learn_share", "idle_share", "frames_per_sec", "others_cores",
    "spread", "ratio", "of",
)  # fmt: skip
"""Of the files that benches write: first those of the system that this one replaces, by its names; then our own."""

Row = dict[str, Any]


def cell_rows(
    results: Sequence[Result], of: str, is_baseline: Callable[[Result], bool] = lambda result: True
) -> list[Row]:
    """A row for each result of which something is known.

    Args:
      results: of one cell.
      of: what was measured.
      is_baseline: whose row the ratios are to: the first that it says yes to and that was measured, turn by turn.
    """
    baseline = next((result for result in results if result.turns and is_baseline(result)), None)
    return [_row(result, of, baseline) for result in results if result.is_known]


def pace(turn: Measured) -> float:
    """Decisions a second."""
    return float(turn["decisions"] / turn["seconds"])


def ratios(mine: Sequence[Measured], theirs: Sequence[Measured]) -> list[float]:
    """Of each turn by itself, as far as both came: noise that lasts for seconds then meets both."""
    return [pace(one) / pace(other) for one, other in zip(mine, theirs, strict=False)]


def _row(result: Result, of: str, baseline: Result | None) -> Row:
    known = {**result.facts, "of": of, "duration_sec": result.seconds, "error": result.error or None}
    if result.turns:
        known |= _measured(result.turns)
        known["ratio"] = None if baseline is None else median(ratios(result.turns, baseline.turns))
    return {name: known.get(name) for name in COLUMNS}


def _measured(turns: Sequence[Measured]) -> Mapping[str, Any]:
    paces = [pace(turn) for turn in turns]
    seen = [turn["gpu_util"] for turn in turns if turn.get("gpu_util") is not None]
    return {
        "steps_per_sec_mean": _rate(turns, "decisions"),
        "updates_per_sec_mean": _rate(turns, "updates"),
        "frames_per_sec": _rate(turns, "frames"),
        "replay_fill_final": turns[-1].get("replay_fill"),
        "gpu_util_mean_window": fmean(seen) if seen else None,
        **{name: _mean(turns, name) for name in ("collect_share", "learn_share", "idle_share", "others_cores")},
        "spread": (max(paces) - min(paces)) / fmean(paces) if len(paces) > 1 else None,
    }


def _rate(turns: Sequence[Measured], name: str) -> float | None:
    """Over the time of all turns; None where turns do not say."""
    if name not in turns[0]:
        return None
    return float(sum(turn[name] for turn in turns) / sum(turn["seconds"] for turn in turns))


def _mean(turns: Sequence[Measured], name: str) -> float | None:
    return fmean(turn[name] for turn in turns) if name in turns[0] else None
