"""Every collector against the suite for collectors."""

from dataclasses import replace

import pytest
import torch

from respawn.collection.actor import Actor
from respawn.collection.overlap import OverlapCollector
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fakes import REWARD_SCALE, FakeWorld
from respawn.testing.suites.collector import check_collector

MODELS = {
    "none": ModelConfig(hidden_sizes=(8,)),
    "noisy gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8, noisy=True),
    "transformer": ModelConfig(core="transformer", core_size=8, transformer_heads=2, transformer_window=4),
}


def make(kind: str, model: str) -> SyncCollector | OverlapCollector:
    world = FakeWorld(3, with_absences=True)
    world.reset([1, 2, 3])
    actor = Actor(build_model(world.spec, MODELS[model], seed=9), 3, make_generator(0, "actor"))
    collector = SyncCollector(world, actor, horizon_steps=7, device=torch.device("cpu"))
    return OverlapCollector(collector) if kind == "overlap" else collector


def orders(model: str) -> list[CollectOrder]:
    spec = FakeWorld(3).spec
    return [
        CollectOrder(
            Weights(version, build_model(spec, MODELS[model], seed=version).state_dict()),
            Knobs(version, {REWARD_SCALE.name: 1.0 + version}),
        )
        for version in range(4)
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["sync", "overlap"])
def test_collector(kind, model):
    check_collector(lambda: make(kind, model), orders(model))


class Wrong:
    """A collector with a fault that the suite must find."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.inner = make("sync", "noisy gru")
        self.close = self.inner.close
        self.has_begun_anew = False
        if fault == "one buffer":
            self.inner._buffers = self.inner._buffers[:1] * 2

    def start(self, order):
        self.inner.start(order)

    def finish(self):
        rollout = self.inner.finish()
        if self.fault == "unsorted cuts":
            return replace(rollout, cuts=rollout.cuts.flip(0))
        if self.fault == "wrong version" or (self.fault == "keeps what was ordered" and self.has_begun_anew):
            return replace(rollout, weights_version=0)
        return rollout

    def state(self):
        if self.fault == "careless" and self.inner._order is not None:
            return {}
        state = self.inner.state()
        if self.fault == "forgets its past":
            state["actor"]["memory"] = {"hidden": torch.zeros(3, 8)}
        return state

    def restore(self, state):
        self.inner.restore(state)

    def begin_anew(self, state):
        self.inner.begin_anew(state)
        self.has_begun_anew = True


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("one buffer", "changed the one that was handed out"),
        ("unsorted cuts", "in order"),
        ("wrong version", "other weights"),
        ("careless", "was not refused"),
        ("forgets its past", "went another way"),
        ("keeps what was ordered", "what another one had under way was handed out"),
    ],
)
def test_the_suite_finds_faults(fault, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_collector(lambda: Wrong(fault), orders("noisy gru"))
