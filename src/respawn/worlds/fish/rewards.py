"""What each fish is paid for a step."""

import torch
from torch import Tensor

from respawn.worlds.fish.config import FishConfig, FishRewards
from respawn.worlds.fish.constants import TANK_RADIUS, VISION_RADIUS
from respawn.worlds.fish.neighbours import COUNT, DIVERGENCE
from respawn.worlds.fish.physics import length


def pay(rewards: FishRewards, fish: Tensor, distance: Tensor) -> Tensor:
    """[S, N] for living, keeping away from the predator and from the wall: each fish as if it lived; not yet scaled.

    Args:
      rewards: the prices.
      fish: [4, S, N].
      distance: [S, N] to the predator.
    """
    if rewards.smooth:
        sight = rewards.out_of_sight * (distance / rewards.reach).clamp(max=1.0)
    else:
        seen = rewards.sight * distance / VISION_RADIUS
        sight = torch.where(distance < VISION_RADIUS, seen, rewards.out_of_sight)
    margin = TANK_RADIUS - length(fish[0], fish[1])
    wall = torch.where(margin < 1.0, rewards.wall * (1.0 - margin), 0.0)
    return rewards.alive + sight - wall


def crowding(config: FishConfig, density_penalty: float, statistics: Tensor) -> Tensor:
    """[S, N] what neighbours add to the pay, from statistics [S, N, 7]; nothing for the lonely; not yet scaled."""
    crowd = statistics[..., COUNT] / config.neighbour_count
    full = (crowd - config.density_target).clamp(min=0.0)
    paid = config.divergence_reward * statistics[..., DIVERGENCE] - density_penalty * full
    return torch.where(statistics[..., COUNT] > 0, paid, 0.0)
