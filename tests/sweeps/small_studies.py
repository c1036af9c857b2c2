"""Studies that are small enough to be carried out in a test."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna

from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.presets import find_preset
from respawn.sweeps.definition import Definition, definition_to_plain
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.rows import TrialRow
from respawn.sweeps.space import Choice, Range
from respawn.sweeps.storage import DEFINITION
from respawn.sweeps.trial_run import Bench
from respawn.training.config import RunConfig

SPACE = {"learner.clip": Range(0.1, 0.4), "model.hidden_sizes": Choice(([4], [8, 8]))}


def tiny(**changes: Any) -> RunConfig:
    """A run of six small updates on CartPole, judged after every second one."""
    config = replace(
        find_preset("cartpole-ppo"),
        planned_updates=6,
        device="cpu",
        model=ModelConfig(hidden_sizes=(8,)),
        learner=PPOConfig(epochs=1, minibatches=1),
        collection=CollectionConfig(num_lanes=2, horizon_steps=4),
        evaluation=EvaluationConfig(every_updates=2, episodes=2, num_lanes=2, limit_steps=40),
        observers=ObserversConfig(console=False, tensorboard=False),
    )
    return replace(config, **changes)


def definition_of(**changes: Any) -> Definition:
    """A study of `tiny`."""
    usual: dict[str, Any] = {"base": tiny(), "space": SPACE, "objective": "evaluation/return_mean"}
    return Definition("cartpole-ppo", **{**usual, **changes})


def study_of(definition: Definition) -> optuna.Study:
    """The study, kept nowhere."""
    study = optuna.create_study(direction=definition.direction.replace("ise", "ize"))
    study.set_user_attr(DEFINITION, definition_to_plain(definition))
    return study


def folder_in(tmp_path: Path, name: str = "small") -> StudyFolder:
    """A study's folder, made."""
    folder = StudyFolder(tmp_path / "sweeps" / name)
    folder.path.mkdir(parents=True)
    return folder


def bench_in(tmp_path: Path, definition: Definition, study: optuna.Study) -> Bench:
    """Where trials of `study` are run."""
    return Bench(study, definition, "small", tmp_path / "runs", None)


def row(trial: int, value: float | None, state: str = "complete", **changes: Any) -> TrialRow:
    """A trial as it is told of."""
    usual: dict[str, Any] = {
        "run": f"small-t{trial:04d}", "updates": 6, "decisions": 48, "seconds": 1.5, "weights_sha256": "abc",
        "cause": "", "host": "here", "settings": {"learner.clip": 0.1 + 0.01 * trial, "model.hidden_sizes": [8, 8]},
        "curve": ((16, 1.0), (32, 2.0), (48, 3.0)),
    }  # fmt: skip
    return TrialRow(trial=trial, state=state, value=value, **{**usual, **changes})
