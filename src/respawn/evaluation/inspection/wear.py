"""What a run uses up: memory, files and disk, the first look at its last process beside the newest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from respawn.contracts.records import Beat, ResourceReport
from respawn.runs.disk import room_on_disk
from respawn.runs.layout import RunFolder

WATCHED = {
    "memory_mib": ("resource/process_rss_mib", "heartbeat/rss_mib"),
    "children_memory_mib": ("resource/children_rss_mib",),
    "open_files": ("resource/open_files", "heartbeat/open_files"),
    "threads": ("resource/threads", "heartbeat/threads"),
    "system_memory_percent": ("resource/system_memory_percent",),
    "disk_free_gib": ("resource/disk_free_gib",),
    "gpu_memory_mib": ("resource/torch_reserved_mib",),
    "gpu_utilisation": ("resource/gpu_utilisation_mean", "resource/gpu_utilisation"),
}
"""By what each is called here: the metrics that say it, the better one first."""

WARM_UP = 0.1
"""The share of the samples in which a run may still be growing into its size."""


@dataclass(frozen=True)
class Trend:
    """One quantity, after the warm-up and now."""

    first: float
    last: float


@dataclass(frozen=True)
class Wear:
    """How a process's needs grew."""

    samples: int
    hours: float
    """between the first look and the last"""
    trends: dict[str, Trend]
    disk_free_gib: float
    """now, on this machine"""
    disk_free_share: float


def measure_wear(
    folder: RunFolder,
    resources: Iterable[tuple[str, ResourceReport]],
    beats: Iterable[tuple[str, Beat]],
    since: str,
) -> Wear:
    """Put the first sample of the last process beside the newest.

    Args:
      folder: whose disk is looked at.
      resources: samples with their times.
      beats: signs of life with theirs, for runs that sample nothing.
      since: when the last process began, ISO-8601 UTC; empty: there was but one.
    """
    samples = _later_than(since, ((time, report.metrics) for time, report in resources))
    if len(samples) < 2:
        samples = _later_than(since, ((time, beat.metrics) for time, beat in beats)) or samples
    room = room_on_disk(folder.path)
    if not samples:
        return Wear(0, 0.0, {}, room.free_gib, room.free_share)
    warm = samples[int(WARM_UP * len(samples)) :]
    (began, first), (ended, last) = warm[0], warm[-1]
    trends = {}
    for name, metrics in WATCHED.items():
        metric = next((each for each in metrics if each in first and each in last), None)
        if metric is not None and isfinite(first[metric]) and isfinite(last[metric]):
            trends[name] = Trend(first[metric], last[metric])
    return Wear(len(samples), _hours(began, ended), trends, room.free_gib, room.free_share)


def _later_than(since: str, rows: Iterable[tuple[str, Mapping[str, float]]]) -> list[tuple[str, dict[str, float]]]:
    """Samples of the last process, with no more of each than is looked at; times of one zone compare as text."""
    wanted = {metric for metrics in WATCHED.values() for metric in metrics}
    return [
        (time, {name: value for name, value in metrics.items() if name in wanted})
        for time, metrics in rows
        if time >= since
    ]


def _hours(began: str, ended: str) -> float:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() / 3600
    except ValueError:
        return 0.0
