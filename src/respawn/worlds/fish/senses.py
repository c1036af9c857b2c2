"""What a fish senses: 11 numbers of its own and of a predator in sight, and 7 of its neighbours."""

import torch
from torch import Tensor

from respawn.worlds.fish.constants import FISH_MAX_SPEED, TANK_RADIUS, VISION_RADIUS
from respawn.worlds.fish.neighbours import COUNT
from respawn.worlds.fish.physics import length

NUM_OWN = 11


def look(fish: Tensor, predator: Tensor, distance: Tensor, alive: Tensor, out: Tensor) -> None:
    """Write the first 11 numbers of each observation into `out` [S, N, >= 11]; the dead sense nothing.

    Args:
      fish: [4, S, N].
      predator: [4, S].
      distance: [S, N] between the two.
      alive: [S, N] bool.
      out: is written.
    """
    x, y, vx, vy = fish
    sees = distance < VISION_RADIUS
    hunter = predator[:, :, None]  # [4, S, 1]
    nothing = torch.zeros((), device=fish.device)
    columns = (
        x / TANK_RADIUS,
        y / TANK_RADIUS,
        vx / FISH_MAX_SPEED,
        vy / FISH_MAX_SPEED,
        (TANK_RADIUS - length(x, y)) / TANK_RADIUS,
        sees.float(),
        torch.where(sees, (hunter[0] - x) / VISION_RADIUS, nothing),
        torch.where(sees, (hunter[1] - y) / VISION_RADIUS, nothing),
        torch.where(sees, hunter[2] / FISH_MAX_SPEED, nothing),
        torch.where(sees, hunter[3] / FISH_MAX_SPEED, nothing),
        torch.where(sees, distance / VISION_RADIUS, nothing),
    )
    for number, column in enumerate(columns):
        torch.mul(column, alive, out=out[..., number])


def feel(statistics: Tensor, average_count: int, out: Tensor) -> None:
    """Write the 7 numbers of the neighbours into `out` [S, N, 18], from statistics [S, N, 7]."""
    out[..., NUM_OWN:] = statistics
    out[..., NUM_OWN + COUNT] = (statistics[..., COUNT] / average_count).clamp(max=1.0)
