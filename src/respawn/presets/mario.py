"""Super Mario Bros.: from tiles on a CPU, from pixels on a GPU."""

from dataclasses import replace

from respawn.checkpoints.config import CheckpointsConfig
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.training.config import RunConfig
from respawn.worlds.mario.config import REWARDS, MarioConfig

_CLEARED = CheckpointsConfig(best_metric="evaluation/cleared")

_WORLD = MarioConfig(start_jitter=16)

_TILES = RunConfig(
    planned_updates=184,
    world=_WORLD,
    model=ModelConfig(hidden_sizes=(128, 128), activation="relu"),
    learner=PPOConfig(
        optimizer=OptimizerConfig(learning_rate=5e-4),
        discount=0.97,
        trace_decay=0.95,
        epochs=4,
        minibatches=4,
        entropy_cost=0.005,
    ),
    collection=CollectionConfig(num_lanes=64, horizon_steps=128),
    schedules=SchedulesConfig(learning_rate=CurveConfig("linear", final_fraction=0.1)),
    evaluation=EvaluationConfig(every_updates=10, episodes=40, num_lanes=40, limit_steps=4_000),
    checkpoints=_CLEARED,
)

PRESETS = {
    "mario": _TILES,
    "mario-vtrace": replace(
        _TILES,
        model=ModelConfig(hidden_sizes=(128,), activation="relu", core="gru", core_size=128),
        learner=VTraceConfig(optimizer=OptimizerConfig(learning_rate=1e-3), discount=0.97, entropy_cost=0.005),
        collection=CollectionConfig(num_lanes=64, horizon_steps=32),
    ),
    "mario-levels": replace(_TILES, world=replace(_WORLD, levels=("1-1", "1-2", "1-3", "1-4"))),
    "mario-pixels": replace(
        _TILES,
        wants_gpu=True,
        world=MarioConfig(observation="pixels", start_jitter=16, engine_threads=0),
        model=ModelConfig(encoder="impala", precision="bfloat16"),
        collection=CollectionConfig(num_lanes=512, horizon_steps=64),
    ),
    "mario-seed": replace(
        _TILES,
        world=replace(_WORLD, rewards=REWARDS["seed"]),
        schedules=SchedulesConfig(reward_scale=CurveConfig("linear", final_fraction=0.5)),
    ),
}
