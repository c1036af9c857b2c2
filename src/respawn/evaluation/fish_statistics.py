"""What evaluations of schools of fish come to: survival, deaths, pre-rolls. Pure: plain data in, plain data out.

The names are those of the system that this replaces, so that its numbers and ours can be laid side by side.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from respawn.evaluation.step_one_statistics import (
    ne_high_speed_share,
    numbers_in,
    stage_summary,
    step_one_clusters,
    summed_up,
    top_share,
    worst_seeds,
)

__all__ = [
    "LIMIT_STEPS",
    "death_stats",
    "ne_high_speed_share",
    "pre_roll_summary",
    "stage_summary",
    "step_one_clusters",
    "summed_up",
    "survival_summary",
    "top_share",
    "worst_seeds",
]

LIMIT_STEPS = 500
"""How long an episode lasts where nothing else is said."""

EARLY_STEPS = (100, 150)
_PERCENTILES = (10, 25, 75, 90)
_ANGLE_BINS, _ANGLE_BIN_DEG = 12, 30.0
_SPEED_BINS, _SPEED_STEP = 10, 0.2
_ANGLES = ("spawn_angle_deg", "initial_heading_deg", "final_heading_deg", "heading_bias_angle")
_NUMBERS = ("spawn_radius", "initial_speed", "final_speed", "steps")
_SERIES = ("angle_jitter_deg", "speed_scale", "speed_target")


def survival_summary(
    final_alive: Sequence[int], num_fish: int, min_survival_rates: Sequence[float] | None = None
) -> dict[str, Any]:
    """How many were left, over episodes.

    Args:
      final_alive: Fish left at the end of each episode.
      num_fish: Fish in each at its beginning.
      min_survival_rates: The lowest share alive in each; none: the last, since the dead do not come back.
    """
    rates = [alive / num_fish for alive in final_alive]
    lowest = rates if min_survival_rates is None else list(min_survival_rates)
    return {
        "episodes": len(rates),
        "avg_final_survival_rate": fmean(rates) if rates else None,
        "min_final_survival_rate": min(rates, default=None),
        "avg_min_survival_rate": fmean(lowest) if lowest else None,
        "min_of_min_survival_rate": min(lowest, default=None),
        "median_min_survival_rate": median(lowest) if lowest else None,
    }


def last_steps(death_timesteps: Iterable[Sequence[int]], limit_steps: int = LIMIT_STEPS) -> list[int]:
    """How long each fish lived, all episodes together: survivors, and whoever died later, as long as an episode."""
    return [limit_steps if step < 0 else min(step, limit_steps) for steps in death_timesteps for step in steps]


def death_stats(death_timesteps: Sequence[Sequence[int]], limit_steps: int = LIMIT_STEPS) -> dict[str, Any]:
    """When fish died, over all fish of all episodes.

    A death in the very last step counts as survival, and `p10` is the step by which a tenth of all fish are dead.

    Args:
      death_timesteps: For each episode the step in which each fish died; -1: it survived.
      limit_steps: How long an episode lasts.
    """
    lived = np.asarray(last_steps(death_timesteps, limit_steps), dtype=np.float64)
    percentiles: list[float] = np.percentile(lived, (50, *_PERCENTILES)).tolist() if lived.size else []

    def at(place: int) -> float | None:
        return percentiles[place] if percentiles else None

    def share(mask: "np.ndarray[Any, np.dtype[np.bool_]]") -> float | None:
        return float(mask.mean()) if lived.size else None

    return {
        "total_fish_samples": int(lived.size),
        "survival_fraction": share(lived >= limit_steps),
        "mean_death_step": float(lived.mean()) if lived.size else None,
        "median_death_step": at(0),
        **{f"p{percent}": at(place) for place, percent in enumerate(_PERCENTILES, start=1)},
        **{f"early_death_fraction_{step}": share(lived < step) for step in EARLY_STEPS},
    }


def pre_roll_summary(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What beginnings were like: each number in words of statistics, and histograms.

    Angles are taken modulo 360. The reference left them in (-180, 180], so that its histogram lost every negative one.

    Args:
      samples: One for each episode, as probes have them; what is missing or null is passed over.
    """
    summary: dict[str, Any] = {"samples": len(samples)}
    for name in _NUMBERS:
        summary[name] = summed_up(numbers_in(sample.get(name) for sample in samples))
    for name in _ANGLES:
        summary[name] = summed_up(_angles(samples, name))
    for name in _SERIES:
        summary[name] = summed_up(numbers_in(value for sample in samples for value in sample.get(name) or ()))
    # An override is told as a flag or as the velocity itself; null, false or nothing: there was none.
    overridden = sum(sample.get("velocity_override") not in (None, False) for sample in samples)
    return summary | {
        "override_count": overridden,
        "override_ratio": overridden / len(samples) if samples else None,
        "spawn_angle_histogram": _angle_histogram(_angles(samples, "spawn_angle_deg")),
        "final_heading_histogram": _angle_histogram(_angles(samples, "final_heading_deg")),
        "initial_speed_histogram": _speed_histogram(numbers_in(sample.get("initial_speed") for sample in samples)),
        "final_speed_histogram": _speed_histogram(numbers_in(sample.get("final_speed") for sample in samples)),
    }


def _angles(samples: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    # The second modulo: a tiny negative angle becomes 360.0 by the first, because of rounding.
    return [angle % 360.0 % 360.0 for angle in numbers_in(sample.get(name) for sample in samples)]


def _angle_histogram(angles: Sequence[float]) -> dict[str, Any]:
    counts = [0] * _ANGLE_BINS
    for angle in angles:
        counts[int(angle // _ANGLE_BIN_DEG)] += 1
    return {"bin_edges": [_ANGLE_BIN_DEG * edge for edge in range(_ANGLE_BINS + 1)], "counts": counts}


def _speed_histogram(speeds: Sequence[float]) -> dict[str, Any]:
    """Ten bins from 0 to the highest speed, which is rounded up to 0.2."""
    top = _SPEED_STEP * max(math.ceil(max(speeds, default=0.0) / _SPEED_STEP - 1e-9), 1)
    counts, edges = np.histogram(np.asarray(speeds, dtype=np.float64), bins=_SPEED_BINS, range=(0.0, top))
    return {"bin_edges": [round(float(edge), 6) for edge in edges], "counts": [int(count) for count in counts]}
