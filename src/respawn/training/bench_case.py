"""A training that is measured a turn at a time, in whichever way it collects: what the trainings of benches are."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch

from respawn.collection.config import CollectionConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import UpdateReport
from respawn.observers.build import ConsoleFacts, build_observers
from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder
from respawn.training.assemble import assemble
from respawn.training.bench_matrix import Entry
from respawn.training.bench_pacing import Pacing
from respawn.training.bench_watch import Watch
from respawn.training.cadence import Cadence
from respawn.training.config import MOST_UPDATES, RunConfig
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.training.gpu_share import GpuShare
from respawn.training.loop import updates

PHASES = ("collect", "learn", "wait", "act", "world")
"""Parts of an update whose time is told; choosing actions and all that the world does are parts of collecting."""

SYNC = "sync"
"""The mode of a training that collects, then learns."""


@dataclass(frozen=True)
class Way:
    """How a training collects."""

    lag: Literal[0, 1] = 0
    actors: int = 0

    @property
    def mode(self) -> str:
        """By its name."""
        return "actors" if self.actors else "overlap" if self.lag else SYNC

    def collection(self, collection: CollectionConfig) -> CollectionConfig:
        """The same collection, in this way."""
        if self.actors:
            return replace(collection, lag=0, threaded=True, actors=self.actors, most_lag=None)
        if collection.actors:  # whose settings mean nothing without any
            collection = CollectionConfig(collection.num_lanes, collection.horizon_steps)
        return replace(collection, lag=self.lag, threaded=True)


class TrainingAlone(Cadence):
    """Nothing is ever judged, saved or at its end.

    The settings stay as they are: scouts, gates and films are refused where evaluations are not asked for.
    """

    def finished(self, clock: Clock) -> bool:
        """Never: whoever measures has enough some time."""
        return False

    def evaluation_due(self, clock: Clock) -> bool:
        """Never, so that there is nothing to film either."""
        return False

    def checkpoint_due(self, clock: Clock) -> bool:
        """Never."""
        return False


class TrainingCase:
    """A training without evaluations and checkpoints.

    Args:
      config: what is trained.
      pacing: how long a turn is.
      writes_rows: it writes the rows of its run, as every training does, into a folder that goes with it.
    """

    def __init__(self, config: RunConfig, pacing: Pacing, *, writes_rows: bool = False) -> None:
        config = replace(config, updates=None, minutes=None, observers=replace(config.observers, console=False))
        self._device = resolve_device(config.device, wants_gpu=config.wants_gpu)
        prepare_torch(self._device, resolve_threads(config.threads))
        self._pacing = pacing
        self._lag = config.collection.greatest_lag
        self._place = tempfile.TemporaryDirectory()
        folder = RunFolder(Path(self._place.name))
        if writes_rows:
            observers = build_observers(folder, config.observers, ConsoleFacts(None, None))
        else:
            observers = ObserverHub({})
        self._run = assemble(config, folder, observers, self._device)
        self._run.cadence = TrainingAlone(
            config.evaluation, config.checkpoints, last_update=MOST_UPDATES, limit_seconds=None
        )
        self._updates = updates(self._run)

    def turn(self) -> dict[str, Any]:
        """Train, and say how it went."""
        for _ in range(self._pacing.dropped(self._lag)):
            next(self._updates)
        self._wait()
        clock = self._run.clock
        decisions, frames = clock.decisions, clock.frames
        reports: list[UpdateReport] = []
        with GpuShare(str(self._device)) as share, Watch() as watch:
            while self._pacing.goes_on(len(reports), watch.seconds, self._lag):
                reports.append(next(self._updates))
            self._wait()
        self._run.collector.state()  # waits for whatever is under way: nobody works during the others' turns
        return {
            **watch.taken,
            "updates": len(reports),
            "decisions": clock.decisions - decisions,
            "frames": clock.frames - frames,
            "gpu_util": share.mean,
            "replay_fill": reports[-1].metrics.get("replay/fill"),
            **shares(reports, watch.taken["seconds"], beside=self._lag > 0),
            "phase_seconds": phases(reports),
        }

    def close(self) -> None:
        """Leave it."""
        self._run.close()
        self._place.cleanup()

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def phases(reports: Sequence[UpdateReport]) -> dict[str, float]:
    """Seconds of all these updates, by phase, as far as they say."""
    told = {phase: [report.metrics.get(f"time/{phase}_seconds") for report in reports] for phase in PHASES}
    return {phase: sum(one or 0.0 for one in found) for phase, found in told.items() if found and found[0] is not None}


def shares(reports: Sequence[UpdateReport], seconds: float, *, beside: bool) -> dict[str, float]:
    """Which part of the time was spent collecting, learning, and waiting for what others collect.

    Args:
      reports: of the updates.
      seconds: that they took in all.
      beside: others collect while the loop learns, so that collecting and learning may come to more than the whole.
    """
    spent = {phase: taken / max(seconds, 1e-9) for phase, taken in phases(reports).items()}
    return {
        "collect_share": spent.get("collect", 0.0),
        "learn_share": spent.get("learn", 0.0),
        "idle_share": spent.get("wait", 0.0) if beside else 0.0,
    }


def sized(config: RunConfig, lanes: int | None, horizon: int | None) -> CollectionConfig:
    """The collection of a configuration, with other lanes and another horizon where they are given."""
    collection = config.collection
    return replace(
        collection,
        num_lanes=collection.num_lanes if lanes is None else lanes,
        horizon_steps=collection.horizon_steps if horizon is None else horizon,
    )


def training_entry(
    config: RunConfig, collection: CollectionConfig, pacing: Pacing, *, mode: str, writes_rows: bool = False
) -> Entry:
    """The entry of a training that collects like this.

    Args:
      config: what is trained.
      collection: instead of the configuration's own.
      pacing: how long a turn is.
      mode: the name of its row.
      writes_rows: see `TrainingCase`.
    """
    threads = resolve_threads(config.threads)
    facts: Mapping[str, Any] = {
        "mode": mode,
        "num_envs": collection.num_lanes,
        "rollout": collection.horizon_steps,
        "lag": collection.greatest_lag,
        "actors": collection.actors,
        "threads": threads,
    }
    make = partial(_make, config, collection, pacing, writes_rows)
    return Entry(make, facts, threads, pacing.longest_seconds(collection.greatest_lag))


def _make(config: RunConfig, collection: CollectionConfig, pacing: Pacing, writes_rows: bool) -> TrainingCase:
    # Put together only here, in the case's own process: what does not fit together is this case's error alone.
    model = config.model
    if model.cuda_graphs and collection.greatest_lag > 0:  # the two exclude each other
        model = replace(model, cuda_graphs=False)
    return TrainingCase(replace(config, collection=collection, model=model), pacing, writes_rows=writes_rows)
