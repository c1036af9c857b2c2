"""How long an update takes, and where the time goes: what `respawn bench overlap` measures."""

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Literal

from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder
from respawn.training.assemble import assemble
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.loop import updates

WARMUP_UPDATES = 3


@dataclass(frozen=True)
class Timing:
    """Seconds an update, on average."""

    collect_seconds: float
    learn_seconds: float
    total_seconds: float
    decisions_per_second: float


def time_updates(config: RunConfig, lag: Literal[0, 1], num_updates: int, place: Path) -> Timing:
    """Train `config` with `lag` for some updates after a warm-up, without checkpoints, evaluations or observers."""
    config = replace(
        config,
        updates=WARMUP_UPDATES + num_updates,
        collection=replace(config.collection, lag=lag),
        evaluation=replace(config.evaluation, every_updates=0, stop_at=None),
        checkpoints=replace(config.checkpoints, every_updates=0, every_seconds=0.0),
    )
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    prepare_torch(device, config.threads)
    place.mkdir(parents=True)
    run = assemble(config, RunFolder(place), ObserverHub({}), device)
    try:
        reports = updates(run)
        for _ in range(WARMUP_UPDATES):
            next(reports)
        began = perf_counter()
        measured = list(reports)
        total = (perf_counter() - began) / num_updates
    finally:
        run.close()
    decisions = measured[-1].decisions - measured[0].decisions
    return Timing(
        collect_seconds=fmean(report.metrics["time/collect_seconds"] for report in measured),
        learn_seconds=fmean(report.metrics["time/learn_seconds"] for report in measured),
        total_seconds=total,
        decisions_per_second=decisions / max(num_updates - 1, 1) / total,
    )
