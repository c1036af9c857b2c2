"""Runs that take half a second, ways to leave them half-way, and what must be the same whatever happened to them."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.store import find_newest
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_events
from respawn.training import launch
from respawn.training.config import RunConfig
from respawn.training.drive import Outcome, save_if_due
from respawn.training.loop import updates
from respawn.training.run import Run

REPLAY = ReplayConfig(capacity_decisions=240, segments=4)
LEARNERS = {
    "ppo": PPOConfig(epochs=2, minibatches=2),
    "vtrace": VTraceConfig(),
    "vtrace-replay": VTraceConfig(replay=REPLAY),
}
CORES = {
    "none": ModelConfig(hidden_sizes=(16,)),
    "gru": ModelConfig(hidden_sizes=(16,), core="gru", core_size=8),
    "lstm": ModelConfig(hidden_sizes=(16,), core="lstm", core_size=8),
    "transformer": ModelConfig(
        hidden_sizes=(16,), core="transformer", core_size=8, transformer_layers=1, transformer_heads=2
    ),
}
# A file of each that never has the same bytes twice, because it holds seconds or depends on how seconds are written.
TIMED_FILES = {"clock.json", "observers.json", "pending.json", "manifest.json"}


def tiny(learner: str = "ppo", core: str = "none", /, **changes: Any) -> RunConfig:
    """CartPole, three lanes, eight steps a rollout; judged every 8 updates and saved every 9."""
    config = RunConfig(
        updates=40,
        model=CORES[core],
        learner=LEARNERS[learner],
        collection=CollectionConfig(num_lanes=3, horizon_steps=8),
        evaluation=EvaluationConfig(every_updates=8, episodes=2, num_lanes=2, limit_steps=60),
        checkpoints=CheckpointsConfig(every_updates=9, every_seconds=0.0),
        observers=ObserversConfig(console=False, tensorboard=False),
    )
    return replace(config, **changes)


def saving_every(num_updates: int) -> CheckpointsConfig:
    return CheckpointsConfig(every_updates=num_updates, every_seconds=0.0)


@dataclass(frozen=True)
class Trace:
    """All of a run that a kill may not change."""

    weights_sha256: str
    state_files: dict[str, str]
    updates: list[dict[str, Any]]
    episodes: list[dict[str, Any]]
    evaluations: list[dict[str, Any]]


def trace(folder: RunFolder) -> Trace:
    found = find_newest(folder.checkpoints)
    assert found is not None
    return Trace(
        found.manifest.weights_sha256,
        {name: sha256 for name, sha256 in found.manifest.files.items() if name not in TIMED_FILES},
        timeless_rows(folder.updates),
        timeless_rows(folder.episodes),
        timeless_rows(folder.evaluations),
    )


def timeless_rows(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in row.items() if not name.startswith("time/")} for row in rows]


def count_rows(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def straight(config: RunConfig, runs_dir: Path, name: str = "straight") -> Trace:
    """The run without any interruption; how often it is saved makes no difference, so it hardly is."""
    folder, _ = launch.begin(replace(config, checkpoints=saving_every(0)), preset="test", runs_dir=runs_dir, name=name)
    return trace(folder)


def begin_and_abandon(config: RunConfig, runs_dir: Path, monkeypatch: Any, *, after: int) -> RunFolder:
    """Begin a run and drop it after so many updates, as it is left by kill -9: whatever was not saved is lost."""

    def left(run: Run, folder: RunFolder, *ignored: Any) -> Outcome:
        save_if_due(run)
        for _ in zip(range(after), updates(run), strict=False):
            pass
        run.close()
        return Outcome("stopped", 137, run.clock.updates, run.clock.decisions)

    with monkeypatch.context() as patch:
        patch.setattr(launch, "drive", left)
        folder, _ = launch.begin(config, preset="test", runs_dir=runs_dir, name="left")
    return folder


def event_kinds(folder: RunFolder) -> list[str]:
    return [timed.event.kind for timed in read_events(folder)]
