from pathlib import Path

from respawn.collection.config import CollectionConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig
from respawn.training.launch import begin
from respawn.worlds.registry import WorldConfig


def train_tiny(world: WorldConfig, runs_dir: Path, name: str) -> RunFolder:
    """A run of one small update, which has learned nothing and can be played all the same."""
    config = RunConfig(
        updates=1,
        device="cpu",
        world=world,
        model=ModelConfig(hidden_sizes=(8,)),
        learner=PPOConfig(epochs=1, minibatches=1),
        collection=CollectionConfig(num_lanes=2, horizon_steps=4),
        observers=ObserversConfig(console=False, tensorboard=False),
    )
    folder, _ = begin(config, preset="tiny", runs_dir=runs_dir, name=name)
    return folder
