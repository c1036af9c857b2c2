"""Small schools for tests: ways to make them, to turn their knobs and to give them beginnings."""

import torch

from respawn.contracts.knobs import Knobs, Start
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld, school_seeds

COAST = 4


def begun(config: FishConfig, num_schools: int, first_seed: int = 1) -> FishWorld:
    """Schools that have begun, from seeds one after another."""
    world = FishWorld(config, num_schools * config.fish)
    reset(world, first_seed)
    return world


def reset(world: FishWorld, first_seed: int = 1) -> None:
    num_schools = len(world.swarm.steps)
    world.reset(school_seeds(range(first_seed, first_seed + num_schools), world.config.fish))


def coast(world: FishWorld):
    """One step in which nobody does anything."""
    shape = (world.spec.num_lanes,)
    if world.config.steering == "continuous":
        return world.step(torch.zeros(*shape, 2))
    return world.step(torch.full(shape, COAST))


def turn(world: FishWorld, starts: tuple[Start, ...] = (), **values: float) -> None:
    """Apply knobs: their defaults but for `values`."""
    defaults = {knob.name: knob.default for knob in world.spec.knobs}
    world.apply(Knobs(0, {**defaults, **values}, starts))


def put(world: FishWorld, fish, predator, school: int = 0) -> None:
    """Set one school, all of it alive, by restoring the state that the world has, changed."""
    state = world.state()
    state["swarm"]["fish"][:, school] = torch.tensor(fish, dtype=torch.float32).T
    state["swarm"]["predator"][:, school] = torch.tensor(predator, dtype=torch.float32)
    state["swarm"]["alive"][school] = True
    world.restore(state)
