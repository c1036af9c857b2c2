"""Who was caught in the very first step, by what predator: clusters by heading and speed, and by kind of hard starts.

Pure: plain data in, plain data out. A record has at least `predator_velocity`; what a run keeps of it has `iteration`
and `tail_stage_type` too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

ANGLE_BIN_DEG = 30.0
SPEED_BIN = 0.4
MOST_WORST_SEEDS = 6
UNKNOWN = "unknown"

_NE_ANGLES = (90.0, 150.0)
_HIGH_SPEED = 1.8
_EDGE = 1e-9  # a speed that was meant to lie on a bin's lower edge belongs to it

Record = Mapping[str, Any]


def numbers_in(values: Iterable[Any]) -> list[float]:
    """Those of some values that are finite numbers."""
    return [
        float(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ]


def summed_up(values: Sequence[float]) -> dict[str, Any]:
    """Some numbers in words of statistics; null where there are none."""
    if not values:
        return {"count": 0, **dict.fromkeys(("mean", "std", "p10", "p50", "p90", "min", "max"))}
    array = np.asarray(values, dtype=np.float64)
    p10, p50, p90 = np.percentile(array, (10, 50, 90)).tolist()
    spread = {"p10": p10, "p50": p50, "p90": p90, "min": float(array.min()), "max": float(array.max())}
    return {"count": len(values), "mean": float(array.mean()), "std": float(array.std()), **spread}


def heading_and_speed(record: Record) -> tuple[float, float] | None:
    """The predator's heading, degrees in [0, 360), and its speed; None: the record does not say."""
    velocity = numbers_in(record.get("predator_velocity") or ())
    if len(velocity) < 2:
        return None
    # The second modulo: a tiny negative angle becomes 360.0 by the first, because of rounding.
    heading = math.degrees(math.atan2(velocity[1], velocity[0])) % 360.0 % 360.0
    return heading, math.hypot(velocity[0], velocity[1])


def step_one_clusters(records: Iterable[Record]) -> dict[str, Any]:
    """Deaths in the first step by the predator's heading and speed, the largest cluster first."""
    clusters, total = _clustered(records)
    return _told(total, [_cluster(key, len(members), total) for key, members in clusters])


def worst_seeds(records: Iterable[Record], most: int = MOST_WORST_SEEDS) -> dict[str, Any]:
    """The largest clusters of a whole run, each with the first record in it as a sample."""
    clusters, total = _clustered(records)
    largest = [
        {**_cluster(key, len(members), total), "sample": _sample(members[0])} for key, members in clusters[:most]
    ]
    return _told(total, largest)


def top_share(clusters: Mapping[str, Any]) -> float | None:
    """The share of the largest cluster; None where nobody died."""
    found = clusters["clusters"]
    return found[0]["share"] if found else None


def ne_high_speed_share(clusters: Mapping[str, Any]) -> float | None:
    """The share of clusters with headings between 90 and 150 degrees and high speed; None where nobody died."""
    found = clusters["clusters"]
    if not found:
        return None
    low, high = _NE_ANGLES
    return math.fsum(
        cluster["share"]
        for cluster in found
        if cluster["angle_deg_start"] < high
        and cluster["angle_deg_end"] > low
        and max(cluster["speed_bin_start"], cluster["speed_bin_end"]) >= _HIGH_SPEED
    )


def stage_summary(records: Sequence[Record]) -> dict[str, Any]:
    """All records of a run by the kind of hard starts that training was dealt then, the most frequent first."""
    by_stage: dict[str, list[Record]] = {}
    for record in records:
        by_stage.setdefault(str(record.get("tail_stage_type") or UNKNOWN), []).append(record)
    stages = [_stage(name, members, len(records)) for name, members in by_stage.items()]
    stages.sort(key=lambda stage: (-stage["count"], stage["stage_type"]))
    return {"total_events": len(records), "stages": stages}


def _clustered(records: Iterable[Record]) -> tuple[list[tuple[tuple[int, int], list[Record]]], int]:
    clusters: dict[tuple[int, int], list[Record]] = {}
    for record in records:
        told = heading_and_speed(record)
        if told is not None:
            key = int(told[0] // ANGLE_BIN_DEG), int((told[1] + _EDGE) // SPEED_BIN)
            clusters.setdefault(key, []).append(record)
    ordered = sorted(clusters.items(), key=lambda cluster: (-len(cluster[1]), cluster[0]))
    return ordered, sum(len(members) for members in clusters.values())


def _told(total: int, clusters: list[dict[str, Any]]) -> dict[str, Any]:
    return {"total_events": total, "angle_bin_deg": ANGLE_BIN_DEG, "speed_bin": SPEED_BIN, "clusters": clusters}


def _cluster(key: tuple[int, int], count: int, total: int) -> dict[str, Any]:
    angle, speed = key
    return {
        "angle_deg_start": angle * ANGLE_BIN_DEG,
        "angle_deg_end": (angle + 1) * ANGLE_BIN_DEG,
        "speed_bin_start": round(speed * SPEED_BIN, 6),
        "speed_bin_end": round((speed + 1) * SPEED_BIN, 6),
        "count": count,
        "share": count / total,
    }


def _sample(record: Record) -> dict[str, Any]:
    told = heading_and_speed(record)
    assert told is not None, "only records that say so are in a cluster"
    return {
        "iteration": record.get("iteration"),
        "angle_deg": told[0],
        "speed": told[1],
        "predator_velocity": list(record["predator_velocity"]),
        "fish_idx": record.get("fish_idx"),
    }


def _stage(name: str, members: Sequence[Record], total: int) -> dict[str, Any]:
    told = [heading_and_speed(record) for record in members]
    iterations = [int(number) for number in numbers_in(record.get("iteration") for record in members)]
    return {
        "stage_type": name,
        "count": len(members),
        "share": len(members) / total,
        "iteration_min": min(iterations, default=None),
        "iteration_max": max(iterations, default=None),
        "predator_speed": summed_up([pair[1] for pair in told if pair is not None]),
    }
