"""CartPole-v1: the smallest thing worth learning, for both learners."""

from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.training.config import RunConfig
from respawn.worlds.foreign.config import ForeignConfig

PRESETS = {
    "cartpole-ppo": RunConfig(
        planned_updates=140,
        world=ForeignConfig(env_id="CartPole-v1"),
        model=ModelConfig(hidden_sizes=(64, 64), core_size=64, separate_value=True),
        learner=PPOConfig(optimizer=OptimizerConfig(learning_rate=1e-3), epochs=6, minibatches=8),
        collection=CollectionConfig(num_lanes=8, horizon_steps=128),
        evaluation=EvaluationConfig(every_updates=20),
    ),
    "cartpole-vtrace": RunConfig(
        planned_updates=1100,
        world=ForeignConfig(env_id="CartPole-v1"),
        model=ModelConfig(hidden_sizes=(64, 64), core_size=64, separate_value=True),
        learner=VTraceConfig(optimizer=OptimizerConfig(learning_rate=3e-3, gradient_norm=2.0)),
        collection=CollectionConfig(num_lanes=8, horizon_steps=16),
        schedules=SchedulesConfig(learning_rate=CurveConfig("cosine", warmup_fraction=0.02, final_fraction=0.05)),
        evaluation=EvaluationConfig(every_updates=100),
    ),
}
"""Both reach 475 within 150,000 decisions; benchmarks/cartpole_learning.py shows it."""
