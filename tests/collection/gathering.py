"""Collectors over the fake world, and orders for them."""

import torch

from respawn.collection.actor import Actor
from respawn.collection.overlap import OverlapCollector
from respawn.collection.scripted import Scripted
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fakes import REWARD_SCALE, FakeWorld

GRU = ModelConfig(hidden_sizes=(8,), core="gru", core_size=8, noisy=True)


def make_model(seed=0, config=GRU):
    return build_model(FakeWorld(3).spec, config, seed=seed)


def make_collector(
    kind="sync", world=None, *, config=GRU, horizon_steps=6, with_scripts=False, pulse: Pulse = NO_PULSE
):
    world = world or FakeWorld(3, with_absences=True)
    world.reset([5, 6, 7])
    actor = Actor(make_model(0, config), 3, make_generator(0, "actor"))
    device = torch.device("cpu")
    scripted = Scripted(3, device) if with_scripts else None
    collector = SyncCollector(world, actor, horizon_steps=horizon_steps, device=device, scripted=scripted, pulse=pulse)
    return OverlapCollector(collector, pulse) if kind == "overlap" else collector


def make_order(version=0, *, scale=1.0, model=None, config=GRU, scripts=()):
    model = model or make_model(version, config)
    tensors = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    return CollectOrder(Weights(version, tensors), Knobs(version, {REWARD_SCALE.name: scale}, scripts=scripts))
