"""The parts of a run that collect, in its own process or in those of its actors. Construction only."""

from collections.abc import Callable

import torch

from respawn.collection.actor import Actor
from respawn.collection.scripted import Scripted
from respawn.collection.sync import SyncCollector
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Event
from respawn.contracts.world import World, WorldSpec
from respawn.maths.seeding import derive_seed, make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.models.build import build_model
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig
from respawn.worlds.registry import make_world


def make_training_world(
    config: RunConfig,
    folder: RunFolder,
    notify: Callable[[Event], None],
    device: torch.device,
    number: int = 0,
    place: str = "",
) -> World:
    """The world that the run learns in, or, with actors, the one of that number.

    Args:
      config: of the run.
      folder: where diagnostics go.
      notify: is told what happens once.
      device: where it computes.
      number: of the actor.
      place: a folder of its own for diagnostics; empty: the actor's, or the run's.
    """
    own = place or (f"actor-{number}" if config.collection.actors else "")
    return make_world(
        config.world,
        config.collection.num_lanes,
        device=device,
        seed=derive_seed(config.seed, "world", number) if number else derive_seed(config.seed, "world"),
        diagnostics=folder.workers / own,
        notify=notify,
    )


def fresh_model(config: RunConfig, spec: WorldSpec, device: torch.device) -> ActorCritic:
    """The model with its first weights."""
    return build_model(spec, config.model, seed=derive_seed(config.seed, "model"), device=device)


def sync_collector(
    config: RunConfig, world: World, device: torch.device, number: int = 0, pulse: Pulse = NO_PULSE
) -> SyncCollector:
    """Collects in `world`; each actor has dice of its own, the first those of a run without actors."""
    names: tuple[str | int, ...] = ("actor", number) if number else ("actor",)
    actor = Actor(
        fresh_model(config, world.spec, device),
        world.spec.num_lanes,
        make_generator(config.seed, *names, device=device),
    )
    return SyncCollector(
        world,
        actor,
        horizon_steps=config.collection.horizon_steps,
        device=device,
        scripted=Scripted(world.spec.num_lanes, device) if config.schedules.progression.forces_anything else None,
        pulse=pulse,
    )
