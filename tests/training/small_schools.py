from dataclasses import replace
from pathlib import Path

from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig
from respawn.training.launch import begin
from respawn.worlds.fish.config import FishConfig

FISH = RunConfig(
    updates=2,
    device="cpu",
    world=FishConfig(fish=4, limit_steps=30, neighbours=False, judged_fish=12),
    model=ModelConfig(hidden_sizes=(8,)),
    learner=PPOConfig(epochs=1, minibatches=1),
    collection=CollectionConfig(num_lanes=8, horizon_steps=4),
    evaluation=EvaluationConfig(every_updates=1, episodes=5, num_lanes=5),
    observers=ObserversConfig(console=False, tensorboard=False),
)
"""Two schools of four that learn for two updates, and are judged as five schools of twelve, for thirty steps."""


def train_school(runs_dir: Path, name: str, **evaluation: int) -> RunFolder:
    """A run of it, with some settings of its evaluation changed."""
    config = replace(FISH, evaluation=replace(FISH.evaluation, **evaluation))
    folder, outcome = begin(config, preset="fish", runs_dir=runs_dir, name=name)
    assert outcome.status == "finished"
    return folder
