"""How the predator moves, and whom it catches. It falls, bounces and sees nothing."""

import torch
from torch import Tensor

from respawn.worlds.fish.constants import (
    CATCH_DISTANCE,
    PREDATOR_FALL,
    PREDATOR_WALL_RESTITUTION,
    STEP_SECONDS,
)
from respawn.worlds.fish.physics import bounce, length

_STEP = float(torch.tensor(STEP_SECONDS))
"""As float32 has it."""


def fall(predator: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Places and velocities [4, S] one step later, as four tensors [S]."""
    x, y, vx, vy = predator.unbind(0)
    vy = vy + PREDATOR_FALL
    return bounce(_carried(x, vx), _carried(y, vy), vx, vy, PREDATOR_WALL_RESTITUTION)


def _carried(place: Tensor, velocity: Tensor) -> Tensor:
    """Place + velocity * time, rounded once: as the machine did that the recorded episodes were made on."""
    # A product of two float32 is exact in float64.
    return (place.double() + _STEP * velocity.double()).float()


def distances(fish: Tensor, predator: Tensor) -> Tensor:
    """[S, N] from each fish [4, S, N] to its predator [4, S]."""
    return length(fish[0] - predator[0][:, None], fish[1] - predator[1][:, None])


def catches(distance: Tensor, alive: Tensor) -> Tensor:
    """[S, N] bool: the living fish that are near enough to be caught."""
    return alive & (distance < CATCH_DISTANCE)
