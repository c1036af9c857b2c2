"""Fish that nothing can save: they are caught in their first step whichever of the five actions they take."""

import torch
from torch import Tensor

from respawn.worlds.fish.constants import ACTIONS, CATCH_DISTANCE
from respawn.worlds.fish.physics import steer, swim
from respawn.worlds.fish.predator import distances, fall


def doomed(fish: Tensor, predator: Tensor) -> Tensor:
    """[S, N] bool of beginnings: fish [4, S, N] and predators [4, S]."""
    after = torch.stack(fall(predator))
    lost = torch.ones(fish.shape[1:], dtype=torch.bool, device=fish.device)
    for action in range(len(ACTIONS)):
        chosen = torch.full(fish.shape[1:], action, device=fish.device)
        moved = torch.stack(swim((fish[0], fish[1]), steer((fish[2], fish[3]), chosen)))
        lost &= distances(moved, after) < CATCH_DISTANCE
    return lost


def born_inside(fish: Tensor, predator: Tensor) -> Tensor:
    """[S, N] bool: fish that begin within the predator's reach, whether or not they can get away."""
    return distances(fish, predator) < CATCH_DISTANCE
