"""Schools of fish: the fastest way to the ceiling that we know, the reference's run, and very large schools."""

from dataclasses import replace

from respawn.checkpoints.config import CheckpointsConfig
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.presets.fish_v40 import PLANNED_UPDATES, SCHEDULES
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.training.config import RunConfig
from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig, FishRewards

_WORLD = FishConfig(
    # Neighbours have no part in survival, and sensing them takes longer than all the rest.
    neighbours=False,
    # Most deaths come early, so most episodes are cut after the predator's first pass; the others teach the rest.
    forced_reset_steps=80,
    forced_reset_share=0.75,
    staggered=True,
    spawn_radius=6.5,
    spawn_distance=0.4,
    # Distance pays a little wherever the predator is, seen or not, so that the critic has something to predict and fish
    # drift to where it rarely comes; a death costs as much as the best two hundred and fifty steps pay.
    rewards=FishRewards(alive=0.0, sight=0.0, out_of_sight=0.004, reach=15.0, wall=0.0, scale=1.0, death=1.0),
)
_FADING = CurveConfig("linear", final_fraction=0.0)

_FISH = RunConfig(
    planned_updates=100,
    threads=2,
    world=_WORLD,
    # Policy and value learn apart: together, a gap to the ceiling of 0.002 became one of 0.003 to 0.004.
    model=ModelConfig(hidden_sizes=(64, 64), activation="relu", separate_value=True),
    learner=PPOConfig(
        optimizer=OptimizerConfig(learning_rate=2e-3),
        discount=0.98,
        trace_decay=0.9,
        epochs=3,
        minibatches=16,
        entropy_cost=0.001,
    ),
    collection=CollectionConfig(num_lanes=64 * 25, horizon_steps=64, lag=0),
    schedules=SchedulesConfig(learning_rate=CurveConfig("linear", final_fraction=0.1), entropy_cost=_FADING),
    evaluation=EvaluationConfig(every_updates=50, episodes=40, num_lanes=40),
    checkpoints=CheckpointsConfig(every_updates=50, best_metric="evaluation/survival_mean"),
)

PRESETS = {
    "fish": _FISH,
    "fish-vtrace": replace(
        _FISH,
        planned_updates=1400,
        learner=VTraceConfig(
            # A third of the rate or twice the horizon leave five times the gap to the ceiling.
            optimizer=OptimizerConfig(learning_rate=4e-3),
            discount=0.98,
            trace_decay=0.9,
            entropy_cost=0.001,
        ),
        collection=CollectionConfig(num_lanes=64 * 25, horizon_steps=16, lag=0),
        evaluation=replace(_FISH.evaluation, every_updates=350),
        checkpoints=replace(_FISH.checkpoints, every_updates=350),
    ),
    "fish-v40": RunConfig(
        planned_updates=PLANNED_UPDATES,
        threads=2,
        seed=411232,
        world=FishConfig(
            rewards=LEGACY_REWARDS,
            forced_reset_steps=224,
            generator="numpy",
            judged_seeds="reference",
            whole_circle=False,
            limit_truncates=False,
            keep_injected_speed=False,
        ),
        # The reference's networks were six times as wide and learned five times from each step, but had a twenty-fifth
        # of the steps: one of a school, where every fish's is learned from here.
        model=ModelConfig(hidden_sizes=(64, 64), activation="tanh", separate_value=True),
        learner=PPOConfig(
            optimizer=OptimizerConfig(learning_rate=2.5e-4), epochs=2, minibatches=200, entropy_cost=0.02
        ),
        collection=CollectionConfig(num_lanes=128 * 25, horizon_steps=128, lag=0),
        schedules=SCHEDULES,
        evaluation=EvaluationConfig(every_updates=8, episodes=20, num_lanes=20, seed_base=411232),
        checkpoints=CheckpointsConfig(every_updates=5, best_metric="evaluation/survival_mean"),
    ),
    "fish-large": replace(
        _FISH,
        planned_updates=60,
        world=replace(_WORLD, fish=1000, neighbours=True, judged_fish=1000),
        collection=CollectionConfig(num_lanes=8 * 1000, horizon_steps=32, lag=0),
        evaluation=replace(_FISH.evaluation, every_updates=20, episodes=4, num_lanes=4),
        checkpoints=replace(_FISH.checkpoints, every_updates=20),
    ),
}
"""The first reaches the ceiling in a minute or two on two cores; benchmarks/fish_learning.py shows it."""
