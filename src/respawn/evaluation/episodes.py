"""Playing whole episodes with a policy, each from a seed of its own."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Generator

from respawn.contracts.policy import Policy
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Episode
from respawn.contracts.world import World
from respawn.worlds.episodes import WORKER_LOST

UNFINISHED = "evaluation limit"
"""The end of an episode that the judge, not the world, cut short."""
PREPARE = "prepare"
"""The phase before the first step: a world is made and reset, which may take as long as it takes."""
NOT_WHOLE = frozenset({UNFINISHED, WORKER_LOST})
"""Ends of episodes whose return is only what they had reached."""
MAX_REPLAYS = 2
"""How often a seed's episode is played again because its worker was lost."""


@torch.no_grad()
def play_episodes(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    device: torch.device,
    pulse: Pulse = NO_PULSE,
) -> list[Episode]:
    """One episode from each seed, in the order of the seeds; `lane` is the seed's place in that order.

    Lanes are filled a batch at a time and each is watched until its first episode ends, so that a seed's episode does
    not depend on which others are played beside it. Without a generator the likeliest actions are taken. Episodes that
    were lost with their worker are played again, from the same seeds, after all others; one that is lost every time
    stays as it is.
    """
    num_lanes = world.spec.num_lanes
    played: dict[int, Episode] = {}  # by the seed's place
    waiting = list(range(len(seeds)))
    for _ in range(1 + MAX_REPLAYS):
        for first in range(0, len(waiting), num_lanes):
            batch = waiting[first : first + num_lanes]
            # A batch that does not fill the world repeats its last seed; what happens there is not looked at.
            padded = [seeds[place] for place in batch + [batch[-1]] * (num_lanes - len(batch))]
            ended = _first_episodes(world, policy, padded, generator, limit_steps, len(batch), device, pulse)
            for place, episode in zip(batch, ended, strict=True):
                played[place] = replace(episode, lane=place)
        waiting = [place for place in waiting if played[place].end == WORKER_LOST]
    return [played[place] for place in range(len(seeds))]


def _first_episodes(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    num_watched: int,
    device: torch.device,
    pulse: Pulse,
) -> list[Episode]:
    pulse.mark(PREPARE)
    observation = world.reset(seeds)
    memory = policy.initial_memory(len(seeds))
    ended: dict[int, Episode] = {}
    returns = torch.zeros(len(seeds), dtype=torch.float64)
    for _ in range(limit_steps):
        pulse.mark("evaluate")
        decision = policy.act(observation.to(device), memory, generator)
        # A lane that ends is not looked at again, so its memory may go on over the end.
        memory = decision.memory
        result = world.step(decision.actions.to(observation.device))
        observation = result.observation
        returns += result.reward.cpu().double()
        for episode in result.episodes:
            ended.setdefault(episode.lane, episode)
        if all(lane in ended for lane in range(num_watched)):
            break
    for lane in set(range(num_watched)) - ended.keys():
        ended[lane] = Episode(lane, float(returns[lane]), limit_steps, UNFINISHED, world.facts_so_far(lane))
    return [ended[lane] for lane in range(num_watched)]
