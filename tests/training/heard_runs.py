"""Runs that are listened to: what their learner learned from in each update, and what came of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from respawn.collection.config import CollectionConfig
from respawn.contracts.records import Event, Rollout
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.ppo.learner import PPOLearner
from respawn.learners.vtrace.learner import VTraceLearner
from respawn.memory.rollouts import rollout_from_state, rollout_state
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_events
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.training.config import RunConfig
from respawn.training.launch import begin
from respawn.worlds.mario.config import MarioConfig

STILL = SchedulesConfig(learning_rate=CurveConfig(initial_fraction=0.0))
"""A policy that stays as it is: two runs differ by what was changed alone."""
LANES = CollectionConfig(num_lanes=8, horizon_steps=48)


def ways(lanes: CollectionConfig) -> dict[str, CollectionConfig]:
    """Gathering and learning in turn, at once, and at once without a thread."""
    return {"sync": lanes, "overlap": replace(lanes, lag=1), "overlap-serial": replace(lanes, lag=1, threaded=False)}


def gathered_with(decided: list[Any], way: str) -> list[Any]:
    """What held while the rollout of each update was gathered: with lag 1 the first two hold the first one's."""
    return decided if way == "sync" else [decided[0], *decided[:-1]]


@dataclass
class Heard:
    """A run, update by update."""

    rollouts: list[Rollout]
    said: list[dict[str, float]]
    weights: list[dict[str, Any]]
    """after each update"""
    folder: RunFolder

    def of_each(self, name: str) -> list[Any]:
        """A field of each rollout."""
        return [getattr(rollout, name) for rollout in self.rollouts]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Of updates.jsonl."""
        return [json.loads(line) for line in self.folder.updates.read_text().splitlines()]

    @property
    def rulings(self) -> list[dict[str, Any]]:
        """Of rulings.jsonl."""
        return [json.loads(line) for line in self.folder.rulings.read_text().splitlines()]

    def events(self, kind: str) -> list[Event]:
        """Those of a kind."""
        return [timed.event for timed in read_events(self.folder) if timed.event.kind == kind]


Train = Callable[[RunConfig], Heard]


def listening(runs_dir: Path) -> Train:
    """Trains in folders of `runs_dir`."""

    def train(config: RunConfig) -> Heard:
        rollouts, said, weights = [], [], []

        def overhear(kind: type[PPOLearner | VTraceLearner]) -> Callable[..., Any]:
            learn = kind.learn

            def overheard(self: Any, rollout: Rollout, knobs: Any) -> Any:
                rollouts.append(rollout_from_state(rollout_state(rollout), rollout.rewards.device))
                report = learn(self, rollout, knobs)
                said.append(dict(report.metrics))
                weights.append({name: tensor.clone() for name, tensor in self.weights().tensors.items()})
                return report

            return overheard

        with pytest.MonkeyPatch.context() as patch:
            for kind in (PPOLearner, VTraceLearner):
                patch.setattr(kind, "learn", overhear(kind))
            folder, _ = begin(config, preset="test", runs_dir=runs_dir, name=f"run-{len(list(runs_dir.iterdir()))}")
        return Heard(rollouts, said, weights, folder)

    return train


def small_run(updates: int, collection: CollectionConfig, **changes: Any) -> RunConfig:
    """Mario, who is called back after 60 decisions, and a policy that does not learn."""
    config = RunConfig(
        updates=updates,
        planned_updates=updates,
        device="cpu",
        world=MarioConfig(actions="right", start_jitter=8, limit_steps=60),
        model=ModelConfig(hidden_sizes=(8,)),
        learner=PPOConfig(epochs=1, minibatches=1, entropy_cost=0.01),
        collection=collection,
        observers=ObserversConfig(console=False, tensorboard=False),
        schedules=STILL,
    )
    return replace(config, **changes)
