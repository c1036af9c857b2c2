"""Which checkpoints are kept: the last k, the best by a metric, one for every n hours. A pure function."""

from collections.abc import Mapping
from datetime import datetime
from math import isfinite, nan

from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.manifest import Manifest


def to_delete(manifests: Mapping[str, Manifest], config: CheckpointsConfig) -> list[str]:
    """The names of those that no rule asks to keep, oldest first."""
    by_age = sorted(manifests, key=lambda name: manifests[name].updates)
    kept = set(by_age[-config.keep_last :]) | best(manifests, config) | _one_per_span(manifests, by_age, config)
    return [name for name in by_age if name not in kept]


def best(manifests: Mapping[str, Manifest], config: CheckpointsConfig) -> set[str]:
    """The names of the `keep_best` that evaluated best; the earlier of two equals."""
    return set(in_order_of_merit(manifests, config)[: config.keep_best])


def in_order_of_merit(manifests: Mapping[str, Manifest], config: CheckpointsConfig) -> list[str]:
    """The names of those that were evaluated, the best first; the earlier of two equals."""
    scores = {name: manifest.metrics.get(config.best_metric, nan) for name, manifest in manifests.items()}
    judged = [name for name, score in scores.items() if isfinite(score)]
    return sorted(judged, key=lambda name: (-scores[name], manifests[name].updates))


def _one_per_span(manifests: Mapping[str, Manifest], by_age: list[str], config: CheckpointsConfig) -> set[str]:
    if config.keep_every_hours <= 0:
        return set()
    kept: set[str] = set()
    latest: datetime | None = None
    for name in by_age:
        saved_at = datetime.fromisoformat(manifests[name].saved_at)
        # Less than nothing has passed where the clock was set back; the spans are counted anew from there.
        if latest is None or not 0 <= (saved_at - latest).total_seconds() < config.keep_every_hours * 3600:
            kept.add(name)
            latest = saved_at
    return kept
