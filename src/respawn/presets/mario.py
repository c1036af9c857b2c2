"""Super Mario Bros.: from tiles on a CPU, from pixels on a GPU."""

from dataclasses import replace

from respawn.checkpoints.config import CheckpointsConfig
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig, ScoutConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.hard_start_config import HARVESTED, HardStartsConfig, HardStartStage, HarvestConfig
from respawn.schedules.level_gate import LevelsConfig
from respawn.schedules.start_clusters import StartFilter
from respawn.training.config import RunConfig
from respawn.worlds.mario.config import REWARDS, MarioConfig

_WORLD = MarioConfig(start_jitter=16)
_PPO = PPOConfig(
    optimizer=OptimizerConfig(learning_rate=1e-3),
    discount=0.97,
    trace_decay=0.95,
    epochs=4,
    minibatches=4,
    # At a quarter of this, 4-2 came to stand still before one obstacle; 1-1 takes as long with either.
    entropy_cost=0.02,
)
_CALMING = CurveConfig("linear", final_fraction=0.1)

_TILES = RunConfig(
    planned_updates=366,
    threads=2,
    world=_WORLD,
    model=ModelConfig(hidden_sizes=(128, 128), activation="relu"),
    learner=_PPO,
    # Many small updates: with twice the horizon it took twice the decisions to the first flag.
    collection=CollectionConfig(num_lanes=64, horizon_steps=64),
    schedules=SchedulesConfig(learning_rate=_CALMING, entropy_cost=_CALMING),
    # A greedy policy can fall back once more after its first clean evaluation: three in a row have held.
    evaluation=EvaluationConfig(every_updates=10, episodes=40, num_lanes=40, stop_at=0.95, stop_after=3),
    checkpoints=CheckpointsConfig(every_updates=20, best_metric="evaluation/cleared"),
)

_LEVELS = replace(
    _TILES,
    planned_updates=1000,
    world=replace(_WORLD, levels=("1-1", "1-2", "1-3", "1-4")),
    model=ModelConfig(hidden_sizes=(256, 256), activation="relu"),
    collection=CollectionConfig(num_lanes=128, horizon_steps=64),
    evaluation=replace(_TILES.evaluation, every_updates=25, episodes=80, num_lanes=80),
)

PRESETS = {
    "mario": _TILES,
    "mario-vtrace": replace(
        _TILES,
        planned_updates=1950,
        model=ModelConfig(hidden_sizes=(128,), activation="relu", core="gru", core_size=128),
        learner=VTraceConfig(
            optimizer=OptimizerConfig(learning_rate=2e-3, gradient_norm=2.0), discount=0.97, entropy_cost=0.01
        ),
        collection=CollectionConfig(num_lanes=64, horizon_steps=32),
        evaluation=replace(_TILES.evaluation, every_updates=50),
        checkpoints=replace(_TILES.checkpoints, every_updates=50),
    ),
    "mario-levels": _LEVELS,
    "mario-curriculum": replace(
        _LEVELS,
        schedules=replace(
            _LEVELS.schedules,
            levels=LevelsConfig(),
            curriculum=CurriculumConfig(
                hard_starts=HardStartsConfig(
                    stages=(HardStartStage(_LEVELS.planned_updates, kind=HARVESTED),),
                    share=0.25,
                    final_fraction=0.2,
                    cycled=True,
                    # Mario's starts have no speed to be sorted by: the scouts have already spread them.
                    harvest=HarvestConfig(most=32, per_evaluation=16, filter=StartFilter(duplicate_tolerance=0.0)),
                )
            ),
        ),
        evaluation=replace(_LEVELS.evaluation, scout=ScoutConfig(episodes=32)),
    ),
    "mario-pixels": replace(
        _TILES,
        planned_updates=976,
        wants_gpu=True,
        world=replace(_WORLD, observation="pixels", engine_threads=0),
        model=ModelConfig(encoder="impala", patch=2, cuda_graphs=True, precision="bfloat16"),
        learner=replace(_PPO, optimizer=OptimizerConfig(learning_rate=5e-4), minibatches=8, entropy_cost=0.005),
        collection=CollectionConfig(num_lanes=128, horizon_steps=64),
        evaluation=replace(_TILES.evaluation, stop_at=0.97),
    ),
    "mario-seed": replace(
        _TILES,
        world=replace(_WORLD, rewards=REWARDS["seed"]),
        schedules=replace(_TILES.schedules, reward_scale=CurveConfig("linear", final_fraction=0.5)),
    ),
}
"""Plans end at 1.5, 4, 8, 8, 8 and 1.5 million decisions; most runs reach their goal long before."""
