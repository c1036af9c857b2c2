"""Every learner against the suite for learners."""

import re
from pathlib import Path

import pytest
import torch

from respawn.collection.actor import Actor
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Learner, Weights
from respawn.contracts.records import LearnReport
from respawn.contracts.saveable import Saveable
from respawn.learners.build import build_learner
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.trainee import ModelWeights
from respawn.learners.vtrace.config import VTraceConfig
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fakes import REWARD_SCALE, FakeWorld
from respawn.testing.suites.collector import gather
from respawn.testing.suites.learner import check_learner

MODELS = {
    "none": ModelConfig(hidden_sizes=(8,)),
    "noisy gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8, noisy=True),
    "transformer": ModelConfig(core="transformer", core_size=8, transformer_heads=2, transformer_window=4),
    "bfloat16": ModelConfig(hidden_sizes=(8,), precision="bfloat16"),
}
OPTIMIZER = OptimizerConfig(weight_decay=0.01, accumulation=2)
LEARNERS = {
    "ppo": PPOConfig(optimizer=OPTIMIZER, epochs=2, minibatches=2, kl_limit=0.5, value_clip=0.2),
    "vtrace": VTraceConfig(optimizer=OPTIMIZER),
}
PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
EXPLAINED = set(re.findall(r"^\| `([a-z_]+/[a-z0-9_]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def rollouts(model):
    world = FakeWorld(3, with_absences=True)
    world.reset([1, 2, 3])
    actor = Actor(build_model(world.spec, model, seed=9), 3, make_generator(0, "actor"))
    collector = SyncCollector(world, actor, horizon_steps=8, device=torch.device("cpu"))
    weights = Weights(0, build_model(world.spec, model, seed=0).state_dict())
    return gather(collector, [CollectOrder(weights, Knobs(0, {REWARD_SCALE.name: 1.0}))] * 4)


def make(name: str, model: str) -> tuple[Learner, Saveable]:
    network = build_model(FakeWorld(3).spec, MODELS[model], seed=0)
    learner = build_learner(LEARNERS[name], network, make_generator(0, "learner"), lambda event: None)
    return learner, ModelWeights(network)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", LEARNERS)
def test_learner(name, model):
    check_learner(lambda: make(name, model), rollouts(MODELS[model]), EXPLAINED)


class Wrong:
    """A learner with a fault that the suite must find."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.inner, self.part = make("ppo", "noisy gru")
        self.knobs = self.inner.knobs
        self.weights = self.inner.weights

    def learn(self, rollout, knobs):
        report = self.inner.learn(rollout, knobs)
        if self.fault == "changes the rollout":
            rollout.rewards.zero_()
        if self.fault == "unheard of":
            return LearnReport({**report.metrics, "loss/unheard_of": 1.0})
        if self.fault == "not finite":
            return LearnReport({**report.metrics, "loss/policy": float("nan")})
        return report

    def state(self):
        state = self.inner.state()
        if self.fault == "forgets its moments":
            state["optimizer"] = {}
        if self.fault == "forgets its dice":
            state["generator"] = make_generator(7).get_state()
        return state

    def restore(self, state):
        self.inner.restore(state)


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("changes the rollout", "changed the rollout"),
        ("unheard of", "not explained"),
        ("not finite", "is nan"),
        ("forgets its moments", "went another way"),
        ("forgets its dice", "went another way"),
    ],
)
def test_the_suite_finds_faults(fault, complaint):
    def make_wrong() -> tuple[Wrong, Saveable]:
        learner = Wrong(fault)
        return learner, learner.part

    with pytest.raises(AssertionError, match=complaint):
        check_learner(make_wrong, rollouts(MODELS["noisy gru"]), EXPLAINED)
