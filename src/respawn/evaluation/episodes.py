"""Playing whole episodes with a policy, each from a seed of its own."""

from collections.abc import Sequence

import torch
from torch import Generator

from respawn.contracts.policy import Policy
from respawn.contracts.records import Episode
from respawn.contracts.world import World

UNFINISHED = "evaluation limit"
"""The end of an episode that the judge, not the world, cut short."""


@torch.no_grad()
def play_episodes(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    device: torch.device,
) -> list[Episode]:
    """One episode from each seed, in the order of the seeds; `lane` is the seed's place in that order.

    Lanes are filled a batch at a time and each is watched until its first episode ends, so that a seed's episode does
    not depend on which others are played beside it. Without a generator the likeliest actions are taken.
    """
    num_lanes = world.spec.num_lanes
    played: list[Episode] = []
    for first in range(0, len(seeds), num_lanes):
        batch = list(seeds[first : first + num_lanes])
        # A batch that does not fill the world repeats its last seed; what happens there is not looked at.
        padded = batch + [batch[-1]] * (num_lanes - len(batch))
        ended = _first_episodes(world, policy, padded, generator, limit_steps, len(batch), device)
        played.extend(
            Episode(first + lane, episode.episode_return, episode.length, episode.end)
            for lane, episode in enumerate(ended)
        )
    return played


def _first_episodes(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    num_watched: int,
    device: torch.device,
) -> list[Episode]:
    observation = world.reset(seeds)
    memory = policy.initial_memory(len(seeds))
    ended: dict[int, Episode] = {}
    returns = torch.zeros(len(seeds), dtype=torch.float64)
    for _ in range(limit_steps):
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
    return [
        ended.get(lane, Episode(lane, float(returns[lane]), limit_steps, UNFINISHED)) for lane in range(num_watched)
    ]
