"""Learners learn: small tasks, solved within seconds, the same way every time."""

import pytest
import torch

from respawn.collection.actor import Actor
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.evaluation.episodes import play_episodes
from respawn.learners.build import LearnerConfig, build_learner
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.registry import WorldConfig, make_world

CPU = torch.device("cpu")
CARTPOLE = ForeignConfig(env_id="CartPole-v1", max_episode_steps=300)
RECALL = RecallConfig(num_cues=3, delay_steps=2)
CHANCE = 2 / 3 - 1
FORGETS = ModelConfig(hidden_sizes=(32,))
REMEMBERS = {
    "gru": ModelConfig(hidden_sizes=(32,), core="gru", core_size=32),
    "transformer": ModelConfig(
        hidden_sizes=(32,),
        core="transformer",
        core_size=32,
        transformer_heads=2,
        transformer_layers=1,
        transformer_window=8,
    ),
}


def mean_return_after(
    learner_config: LearnerConfig,
    world_config: WorldConfig,
    model_config: ModelConfig,
    *,
    updates: int,
    lanes: int,
    rows: int,
    seed: int = 0,
) -> float:
    """Train from scratch, then play 50 greedy episodes from seeds that were not trained on."""
    world = make_world(world_config, lanes, device=CPU, seed=seed)
    world.reset(range(lanes))
    acting, learning = (build_model(world.spec, model_config, seed=seed) for _ in range(2))
    collector = SyncCollector(
        world, Actor(acting, lanes, make_generator(seed, "actor")), horizon_steps=rows, device=CPU
    )
    learner = build_learner(learner_config, learning, make_generator(seed, "learner"), lambda event: None)
    knobs = Knobs(0, {knob.name: knob.default for knob in learner.knobs})
    for _ in range(updates):
        collector.start(CollectOrder(learner.weights(), knobs))
        learner.learn(collector.finish(), knobs)
    collector.close()
    judging = make_world(world_config, 50, device=CPU, seed=1)
    episodes = play_episodes(judging, learning, range(1000, 1050), None, 1000, CPU)
    judging.close()
    return sum(episode.episode_return for episode in episodes) / 50


LEARNERS = {
    "ppo": (PPOConfig(optimizer=OptimizerConfig(learning_rate=3e-3), epochs=4, minibatches=4), 60, 64),
    "vtrace": (VTraceConfig(optimizer=OptimizerConfig(learning_rate=5e-3)), 500, 16),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pole_is_balanced(name):
    """An untrained policy lasts about 10 steps, the best possible one 300."""
    config, updates, rows = LEARNERS[name]
    assert mean_return_after(config, CARTPOLE, FORGETS, updates=0, lanes=8, rows=rows) < 60
    assert mean_return_after(config, CARTPOLE, FORGETS, updates=updates, lanes=8, rows=rows) > 150


AS_THEY_ARE = PPOConfig(
    optimizer=OptimizerConfig(learning_rate=2e-3), epochs=4, minibatches=4, normalise_advantages=False
)
"""Once nearly all is right, normalised advantages are mostly noise, which the transformer forgets by: with them one
seed in four or more fails, with these none of twenty."""


@pytest.mark.parametrize(
    ("config", "core", "updates"),
    [
        pytest.param(LEARNERS["ppo"][0], "gru", 25, id="ppo-gru"),
        pytest.param(LEARNERS["vtrace"][0], "gru", 100, id="vtrace-gru"),
        pytest.param(AS_THEY_ARE, "transformer", 60, id="ppo-transformer"),
    ],
)
def test_what_remembers_can_recall(config, core, updates):
    """Naming one of three cues after a delay: 1.0 is always right."""
    assert mean_return_after(config, RECALL, REMEMBERS[core], updates=updates, lanes=32, rows=16) > 0.9


@pytest.mark.parametrize(("name", "updates"), [("ppo", 25), ("vtrace", 100)])
def test_what_forgets_can_only_guess(name, updates):
    """Guessing is right one time in three."""
    config, *_ = LEARNERS[name]
    after = mean_return_after(config, RECALL, FORGETS, updates=updates, lanes=32, rows=16)
    assert after == pytest.approx(CHANCE, abs=0.3)
