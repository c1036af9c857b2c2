"""What starts are like: clusters by speed and heading or by place, and filters that make a mix of starts more even."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError
from respawn.schedules.start_files import HardStart

DIFFICULTY = "difficulty"
"""the feature that says how hard a start was found to be; the higher, the harder"""

_EDGE = 1e-6  # files have so many decimals: what was meant to lie on a bin's lower edge belongs to it

PLACE = "place"
"""the feature of starts that lie at a place: those at one are a cluster, whatever else they say"""

ClusterKey = tuple[int, ...]
"""bins of speed and of heading, -1 where a start does not say; or a place"""


@dataclass(frozen=True)
class StartFilter:
    """Which starts are kept."""

    speed_bin: float = 0.4
    """width of a cluster in speed"""
    heading_bin_deg: float = 30.0
    """width of a cluster in heading"""
    drop_from_difficulty: float | None = None
    """clusters that are as hard as this on average, or harder, are dropped; none: no cluster is"""
    thin_from_difficulty: float | None = None
    """clusters that are as hard as this, or harder, are thinned out; none: no cluster is"""
    thin_keep: float = 0.5
    """share of a thinned cluster that is kept, at least one start"""
    duplicate_tolerance: float | None = None
    """starts no number of which differs by more than this are one; none: all are kept"""
    most_per_cluster: int | None = None
    """no more of a cluster than this; none: no limit"""

    def __post_init__(self) -> None:
        """Refuse what cannot sort starts."""
        prefix = "a start filter's "
        check_above(prefix, self, {"speed_bin": 0.0, "heading_bin_deg": 0.0})
        check_at_least(prefix, self, {"duplicate_tolerance": 0.0, "most_per_cluster": 1})
        check_between(prefix, self, {"thin_keep": (0.0, 1.0), "heading_bin_deg": (0.0, 360.0)})
        for name in ("drop_from_difficulty", "thin_from_difficulty"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ConfigError(f"a start filter's {name.replace('_', '-')} must be finite, not {value}")


@dataclass(frozen=True)
class Filtered:
    """What a filter kept, and what the mix was like before and after it."""

    kept: tuple[HardStart, ...]
    report: Mapping[str, Any]
    """`before`, `after`: count, speed and heading in numbers, clusters; `dropped`: how many for which reason"""


def filter_starts(
    starts: Sequence[HardStart],
    settings: StartFilter,
    difficulty: Callable[[HardStart], float | None] | None = None,
) -> Filtered:
    """Drop duplicates, drop and thin hard clusters, bound what is left of each.

    Args:
      starts: what there is; order is kept.
      settings: what to keep.
      difficulty: how hard a start was found to be; None: its own feature of that name.
    """
    measured = difficulty or _own_difficulty
    unique = _without_duplicates(starts, settings.duplicate_tolerance)
    kept: list[HardStart] = []
    dropped = {"duplicates": len(starts) - len(unique), "hard_clusters": 0, "thinned": 0}
    for members in _clustered(unique, settings).values():
        wanted = _wanted(len(members), _mean([measured(start) for start in members]), settings)
        dropped["thinned" if wanted else "hard_clusters"] += len(members) - wanted
        kept += [members[place * len(members) // wanted] for place in range(wanted)]  # evenly over the cluster
    places = {id(start): place for place, start in enumerate(unique)}
    kept.sort(key=lambda start: places[id(start)])
    report = {
        "before": composition(starts, settings, measured),
        "after": composition(kept, settings, measured),
        "dropped": dropped,
    }
    return Filtered(tuple(kept), report)


def composition(
    starts: Sequence[HardStart],
    settings: StartFilter,
    difficulty: Callable[[HardStart], float | None] | None = None,
) -> dict[str, Any]:
    """What a mix of starts is like, as plain data: its clusters, the largest first."""
    measured = difficulty or _own_difficulty
    clusters = [
        _told(key, members, settings, len(starts), _mean([measured(start) for start in members]))
        for key, members in _clustered(starts, settings).items()
    ]
    return {
        "count": len(starts),
        "speed": _described([start.features["speed"] for start in starts if "speed" in start.features]),
        "heading_deg": _described([s.features["heading_deg"] for s in starts if "heading_deg" in s.features]),
        "clusters": sorted(clusters, key=lambda cluster: -cluster["count"]),
    }


def cluster_key(start: HardStart, settings: StartFilter) -> ClusterKey:
    """The cluster that a start belongs to."""
    if PLACE in start.features:
        return (int(start.features[PLACE]),)
    speed, heading = start.features.get("speed"), start.features.get("heading_deg")
    return (
        -1 if speed is None else int((speed + _EDGE) // settings.speed_bin),
        -1 if heading is None else int((heading + _EDGE) % 360.0 // settings.heading_bin_deg),
    )


def _clustered(starts: Sequence[HardStart], settings: StartFilter) -> dict[ClusterKey, list[HardStart]]:
    clusters: dict[ClusterKey, list[HardStart]] = {}
    for start in starts:
        clusters.setdefault(cluster_key(start, settings), []).append(start)
    return clusters


def _wanted(count: int, hardness: float | None, settings: StartFilter) -> int:
    """How many starts of a cluster are kept."""
    if _reaches(hardness, settings.drop_from_difficulty):
        return 0
    if _reaches(hardness, settings.thin_from_difficulty):
        count = max(1, round(settings.thin_keep * count))
    return count if settings.most_per_cluster is None else min(count, settings.most_per_cluster)


def _own_difficulty(start: HardStart) -> float | None:
    return start.features.get(DIFFICULTY)


def _without_duplicates(starts: Sequence[HardStart], tolerance: float | None) -> list[HardStart]:
    if tolerance is None:
        return list(starts)
    unique: list[HardStart] = []
    rows_by_shape: dict[tuple[str, ...], tuple[np.ndarray[Any, np.dtype[np.float64]], int]] = {}
    for start in starts:
        names, numbers = _flattened(start.state)
        rows, count = rows_by_shape.get(names, (np.empty((8, len(numbers))), 0))
        if bool((np.abs(rows[:count] - numbers).max(axis=1, initial=0.0) <= tolerance).any()):
            continue
        if count == len(rows):
            rows = np.concatenate([rows, np.empty_like(rows)])
        rows[count] = numbers
        rows_by_shape[names] = rows, count + 1
        unique.append(start)
    return unique


def _flattened(state: Any, where: str = "") -> tuple[tuple[str, ...], list[float]]:
    """All numbers of a state, and where each of them is."""
    if isinstance(state, Mapping):
        pieces = [_flattened(state[name], f"{where}.{name}") for name in sorted(state)]
    elif isinstance(state, list | tuple):
        pieces = [_flattened(item, f"{where}[{i}]") for i, item in enumerate(state)]
    else:
        return (where,), [float(state)]
    return tuple(name for names, _ in pieces for name in names), [n for _, numbers in pieces for n in numbers]


def _reaches(hardness: float | None, limit: float | None) -> bool:
    return hardness is not None and limit is not None and hardness >= limit


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _described(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {"min": float(min(values)), "mean": float(sum(values) / len(values)), "max": float(max(values))}


def _told(
    key: ClusterKey, members: Sequence[HardStart], settings: StartFilter, total: int, hardness: float | None
) -> dict[str, Any]:
    told: dict[str, Any] = {"count": len(members), "share": len(members) / total}
    if len(key) == 1:
        told[PLACE] = key[0]
        return told if hardness is None else {**told, DIFFICULTY: hardness}
    speed, heading = key
    if speed >= 0:
        told |= {"speed_bin_start": speed * settings.speed_bin, "speed_bin_end": (speed + 1) * settings.speed_bin}
    if heading >= 0:
        width = settings.heading_bin_deg
        told |= {"angle_deg_start": heading * width, "angle_deg_end": min((heading + 1) * width, 360.0)}
    return told if hardness is None else {**told, DIFFICULTY: hardness}
