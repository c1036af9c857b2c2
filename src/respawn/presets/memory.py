"""The recall task: it can be solved only by remembering, so it needs a core."""

from typing import Literal

from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.training.config import RunConfig
from respawn.worlds.recall.config import RecallConfig


def _recall(core: Literal["gru", "transformer"]) -> RunConfig:
    return RunConfig(
        planned_updates=100,
        world=RecallConfig(),
        model=ModelConfig(hidden_sizes=(64,), core=core, core_size=64, transformer_window=16),
        learner=PPOConfig(
            optimizer=OptimizerConfig(learning_rate=2e-3),
            minibatches=4,
            # Once every answer is right, advantages are nothing but noise, and normalising would blow it up.
            normalise_advantages=False,
        ),
        collection=CollectionConfig(num_lanes=32, horizon_steps=40),
        evaluation=EvaluationConfig(every_updates=20, episodes=100, num_lanes=100),
    )


PRESETS = {"memory-gru": _recall("gru"), "memory-transformer": _recall("transformer")}
