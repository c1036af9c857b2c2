"""What a run uses up: memory, files and disk, the first look at its last process beside the newest."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
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
class Began:
    """When the last process began, and when it had grown into its size."""

    time: str = ""
    """ISO-8601 UTC; empty: there was but one"""
    clock_went_back: bool = False
    """after that time there were earlier ones"""
    settled_update: int = 0
    """until then it was to grow, whatever share of the samples that is"""


@dataclass(frozen=True)
class _Sample:
    time: str
    update: int
    metrics: dict[str, float]
    """no more of them than is looked at"""


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
    began: Began,
) -> Wear:
    """Put the first sample of the last process beside the newest.

    Args:
      folder: whose disk is looked at.
      resources: samples with their times.
      beats: signs of life with theirs, for runs that sample nothing.
      began: when the last process did.
    """
    samples = _of_last_process(began, resources)
    if len(samples) < 2:
        samples = _of_last_process(began, beats) or samples
    room = room_on_disk(folder.path)
    if not samples:
        return Wear(0, 0.0, {}, room.free_gib, room.free_share)
    warm = samples[int(WARM_UP * len(samples)) :]
    warm = [sample for sample in warm if sample.update >= began.settled_update] or warm
    first, last = warm[0].metrics, warm[-1].metrics
    trends = {}
    for name, metrics in WATCHED.items():
        metric = next((each for each in metrics if each in first and each in last), None)
        if metric is not None and isfinite(first[metric]) and isfinite(last[metric]):
            trends[name] = Trend(first[metric], last[metric])
    return Wear(len(samples), _hours(warm[0].time, warm[-1].time), trends, room.free_gib, room.free_share)


def _of_last_process(began: Began, rows: Iterable[tuple[str, ResourceReport | Beat]]) -> list[_Sample]:
    """The samples since it began, in their order, which holds whatever the clock was set to.

    They begin with the first that is not older, or, where the clock was set back, where times last go back; and not
    before updates last go back, as when a run is taken up.
    """
    wanted = {metric for metrics in WATCHED.values() for metric in metrics}
    samples = [
        _Sample(time, row.update, {name: value for name, value in row.metrics.items() if name in wanted})
        for time, row in rows
    ]
    pairs = list(enumerate(pairwise(samples), 1))
    back = max((at for at, (before, after) in pairs if after.update < before.update), default=0)
    begin = next((at for at, sample in enumerate(samples) if sample.time >= began.time), None)
    if begin is None:  # times of one zone compare as text
        if not began.clock_went_back:
            return []
        begin = max((at for at, (before, after) in pairs if after.time < before.time), default=0)
    return samples[max(begin, back) :]


def _hours(began: str, ended: str) -> float:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() / 3600
    except ValueError:
        return 0.0
