"""Playing schools of fish to their end, each from a seed of its own, and keeping what happened to every fish."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Generator, Tensor

from respawn.contracts.policy import Policy
from respawn.contracts.records import Episode
from respawn.worlds.fish.doomed import born_inside, doomed
from respawn.worlds.fish.starts import describe_pre_roll, start_state
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.world import FishWorld, school_seeds

LARGEST_SEED = 2**31 - 1

Watch: TypeAlias = Callable[[FishWorld], None]
"""looks on when the schools of a batch have begun, and after each of their steps"""


@dataclass(frozen=True)
class SchoolRecord:
    """One school's episode."""

    seed: int
    episode: Episode
    death_steps: tuple[int, ...]
    """of each fish; -1: it survived"""
    step_one_deaths: tuple[Mapping[str, Any], ...]
    """who was caught in the first step, and where"""
    doomed: int
    """fish that were caught in the first step whatever they had done"""
    born_inside: int
    pre_roll: Mapping[str, Any]
    start: Mapping[str, Any]
    """the whole beginning, as plain data that the world can begin from again"""

    @property
    def alive(self) -> int:
        """Fish left at the end."""
        return sum(step < 0 for step in self.death_steps)

    @property
    def survival(self) -> float:
        """Share of the fish left at the end."""
        return self.alive / len(self.death_steps)


def reference_seeds(seed_base: int, first: int, count: int) -> list[int]:
    """Seeds number `first` and on of the stream that the reference draws its evaluations from."""
    stream = np.random.default_rng(seed_base)
    return [int(stream.integers(0, LARGEST_SEED)) for _ in range(first + count)][first:]


def _nobody(world: FishWorld) -> None:
    """Watches nothing."""


@torch.no_grad()
def play_schools(
    world: FishWorld,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    device: torch.device,
    watch: Watch = _nobody,
) -> list[SchoolRecord]:
    """One school from each seed, in the order of the seeds; without a generator the likeliest actions are taken."""
    num_schools = world.spec.num_lanes // world.config.fish
    records: list[SchoolRecord] = []
    for first in range(0, len(seeds), num_schools):
        batch = list(seeds[first : first + num_schools])
        # A batch that does not fill the world repeats its last seed; what happens there is not looked at.
        padded = batch + [batch[-1]] * (num_schools - len(batch))
        records += _play_batch(world, policy, padded, generator, device, watch)[: len(batch)]
    return records


def _play_batch(
    world: FishWorld,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    device: torch.device,
    watch: Watch,
) -> list[SchoolRecord]:
    observation = world.reset(school_seeds(seeds, world.config.fish))
    assert world.births is not None
    births = world.births
    lost, inside = doomed(births.fish, births.predator).sum(1), born_inside(births.fish, births.predator).sum(1)
    starts = [start_state(births.fish[:, school], births.predator[:, school]) for school in range(len(seeds))]
    pre_rolls = [describe_pre_roll(births, school) for school in range(len(seeds))]
    memory = policy.initial_memory(len(observation))
    ended: dict[int, tuple[Episode, list[int]]] = {}
    first_deaths: dict[int, list[dict[str, Any]]] = {}
    step = 0
    watch(world)
    while len(ended) < len(seeds):
        decision = policy.act(observation.to(device), memory, generator)
        memory = decision.memory
        result = world.step(decision.actions.to(observation.device))
        observation = result.observation
        step += 1
        if step == 1:
            first_deaths = _step_one_deaths(world)
        if world.ended is not None:
            schools, swarm = world.ended
            for place, (school, episode) in enumerate(zip(schools, result.episodes, strict=True)):
                ended.setdefault(school, (episode, swarm.death_steps[place].tolist()))
        watch(world)
    return [
        SchoolRecord(
            seed=seed,
            episode=ended[school][0],
            death_steps=tuple(ended[school][1]),
            step_one_deaths=tuple(first_deaths.get(school, ())),
            doomed=int(lost[school]),
            born_inside=int(inside[school]),
            pre_roll=pre_rolls[school],
            start=starts[school],
        )
        for school, seed in enumerate(seeds)
    ]


def _step_one_deaths(world: FishWorld) -> dict[int, list[dict[str, Any]]]:
    """By school, what the reference records of each fish that was caught in the first step."""
    found = _caught_at_one(world.swarm, range(len(world.swarm.steps)))
    if world.ended is not None:  # schools of which nobody is left have begun anew already
        schools, swarm = world.ended
        found |= _caught_at_one(swarm, schools)
    return found


def _caught_at_one(swarm: SwarmState, schools: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    caught: Tensor = (swarm.death_steps == 1).nonzero()
    for place, fish in caught.tolist():
        found.setdefault(schools[place], []).append(
            {
                "fish_idx": fish,
                "predator_index": 0,
                "fish_position": swarm.fish[:2, place, fish].tolist(),
                "predator_position": swarm.predator[:2, place].tolist(),
                "predator_velocity": swarm.predator[2:, place].tolist(),
                "timestep": 1,
            }
        )
    return found
