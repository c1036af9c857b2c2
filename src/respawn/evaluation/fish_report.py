"""What some schools' episodes come to: the numbers that a policy is judged by, and all that artefacts are made from."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from respawn.evaluation.fish_statistics import death_stats, survival_summary
from respawn.evaluation.intervals import mean_interval
from respawn.evaluation.schools import SchoolRecord

EVALUATION_METRICS = (
    "evaluation/survival_mean",
    "evaluation/survival_std",
    "evaluation/survival_low",
    "evaluation/survival_high",
    "evaluation/survival_worst",
    "evaluation/survival_gap",
    "evaluation/death_mean",
    "evaluation/death_p10",
    "evaluation/early_death_100",
    "evaluation/early_death_150",
    "evaluation/step_one_count",
    "evaluation/step_one_ratio",
    "evaluation/step_one_excess_ratio",
    "evaluation/doomed_fraction",
    "evaluation/born_inside_fraction",
    "evaluation/return_mean",
    "evaluation/length_mean",
    "evaluation/episodes",
)
WORST_STARTS = 8
"""Beginnings of the worst episodes that a probe keeps, for schedules to begin from again."""


def summarise_schools(records: Sequence[SchoolRecord], limit_steps: int) -> dict[str, float]:
    """The numbers of an evaluation, by their names in docs/metrics.md."""
    survival = [record.survival for record in records]
    low, high = mean_interval(survival) or (survival[0], survival[0])  # rows hold numbers
    deaths = death_stats([list(record.death_steps) for record in records], limit_steps)
    fish = sum(len(record.death_steps) for record in records)
    step_one = sum(len(record.step_one_deaths) for record in records)
    lost = sum(record.doomed for record in records)
    numbers = (
        fmean(survival),
        stdev(survival) if len(survival) > 1 else 0.0,
        low,
        high,
        min(survival),
        1.0 - lost / fish - fmean(survival),
        deaths["mean_death_step"],
        deaths["p10"],
        deaths["early_death_fraction_100"],
        deaths["early_death_fraction_150"],
        float(step_one),
        step_one / fish,
        (step_one - lost) / fish,
        lost / fish,
        sum(record.born_inside for record in records) / fish,
        fmean(record.episode.episode_return for record in records),
        fmean(record.episode.length for record in records),
        float(len(records)),
    )
    return dict(zip(EVALUATION_METRICS, numbers, strict=True))


def probe_facts(records: Sequence[SchoolRecord], limit_steps: int, circumstances: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation in full, by the reference's names where it has one.

    Args:
      records: one a school, in the order of their seeds.
      limit_steps: an episode's length.
      circumstances: what else is to be told, such as how fast the fish began.
    """
    num_fish = len(records[0].death_steps)
    fish = num_fish * len(records)
    step_one = [
        {"episode": number, **death} for number, record in enumerate(records) for death in record.step_one_deaths
    ]
    lost = sum(record.doomed for record in records)
    return {
        "num_fish": num_fish,
        "episodes": len(records),
        "seeds": [record.seed for record in records],
        "limit_steps": limit_steps,
        **circumstances,
        "summary": survival_summary([record.alive for record in records], num_fish),
        "death_stats": death_stats([list(record.death_steps) for record in records], limit_steps),
        "step_one_death_count": len(step_one),
        "step_one_death_ratio": len(step_one) / fish,
        "doomed": {
            "count": lost,
            "fraction": lost / fish,
            "spawn_inside_fraction": sum(record.born_inside for record in records) / fish,
            "excess_count": len(step_one) - lost,
            "excess_ratio": (len(step_one) - lost) / fish,
        },
        "step_one_deaths": step_one,
        "records": [_record(number, record) for number, record in enumerate(records)],
        "pre_roll": [dict(record.pre_roll) for record in records],
        "worst_starts": _worst_starts(records),
    }


def worst_episodes(records: Sequence[SchoolRecord], count: int) -> list[int]:
    """Places of the episodes with the fewest survivors, the worst first."""
    return sorted(range(len(records)), key=lambda place: (records[place].alive, place))[:count]


def _record(number: int, record: SchoolRecord) -> dict[str, Any]:
    return {
        "episode": number,
        "avg_reward": record.episode.episode_return / record.episode.length,
        "total_reward": record.episode.episode_return,
        "steps": record.episode.length,
        "final_num_alive": record.alive,
        "min_survival_rate": record.survival,
        "death_timesteps": list(record.death_steps),
        "seed": record.seed,
    }


def _worst_starts(records: Sequence[SchoolRecord]) -> list[dict[str, Any]]:
    """Beginnings of the worst episodes, the fish first that were caught soonest."""
    return [_hard_start(place, records[place]) for place in worst_episodes(records, WORST_STARTS)]


def _hard_start(number: int, record: SchoolRecord) -> dict[str, Any]:
    # Who was caught in the first step teaches little: most of them had no choice.
    later = [fish for fish, step in enumerate(record.death_steps) if step != 1]
    order = sorted(later, key=lambda fish: record.death_steps[fish] if record.death_steps[fish] > 0 else math.inf)
    vx, vy = record.start["predator_velocity"]
    return {
        "episode": number,
        "seed": record.seed,
        "state": {
            "predator_position": record.start["predator_position"],
            "predator_velocity": [vx, vy],
            "fish_positions": [record.start["fish_positions"][fish] for fish in order],
            "fish_velocities": [record.start["fish_velocities"][fish] for fish in order],
        },
        "features": {"speed": math.hypot(vx, vy), "heading_deg": math.degrees(math.atan2(vy, vx)) % 360.0},
    }
