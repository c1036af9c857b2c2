"""What infos say of schools, by the names of the reference system."""

from typing import Any

import numpy as np

from respawn.worlds.episodes import Array
from respawn.worlds.fish.aftermath import FishWorldWithAftermath
from respawn.worlds.fish.state import SwarmState

NEVER = -1
"""the step of a death that did not happen"""


def school_columns(swarm: SwarmState) -> dict[str, Array]:
    """A number a school, [S] each: `num_alive`, `survival_rate`, `timestep` and `first_death_step`."""
    num_alive = swarm.alive.sum(1).cpu().numpy()
    deaths = swarm.death_steps.cpu().numpy().astype(np.int64)
    first = np.where(deaths > 0, deaths, np.iinfo(np.int64).max).min(1)
    return {
        "num_alive": num_alive,
        "survival_rate": num_alive / np.maximum(swarm.sizes.cpu().numpy(), 1),
        "timestep": swarm.steps.cpu().numpy().astype(np.int64),
        "first_death_step": np.where((deaths > 0).any(1), first, NEVER),
    }


def school_infos(world: FishWorldWithAftermath, swarm: SwarmState, *, last: bool) -> dict[str, Any]:
    """All that infos say of a world's only school.

    Args:
      world: of one school.
      swarm: how it is now or, if `last`, how its episode left it.
      last: whether this is the last step of its episode, which also tells `death_timesteps`.
    """
    columns = school_columns(swarm)
    facts: dict[str, Any] = {
        "num_alive": int(columns["num_alive"][0]),
        "survival_rate": float(columns["survival_rate"][0]),
        "timestep": int(columns["timestep"][0]),
        "first_death_step": int(columns["first_death_step"][0]),
        "step_one_deaths": _step_one_deaths(world, swarm),
    }
    return facts | {"death_timesteps": swarm.death_steps[0].tolist()} if last else facts


def _step_one_deaths(world: FishWorldWithAftermath, swarm: SwarmState) -> list[dict[str, Any]]:
    """One record a fish that was caught in the first step; it lies where it was caught ever since."""
    caught = (swarm.death_steps[0] == 1).nonzero().flatten().tolist()
    x, y, vx, vy = world.predator_after_one()[:, 0].tolist()
    return [
        {
            "fish_idx": fish,
            "predator_index": 0,
            "fish_position": swarm.fish[:2, 0, fish].tolist(),
            "predator_position": [x, y],
            "predator_velocity": [vx, vy],
            "timestep": 1,
        }
        for fish in caught
    ]
