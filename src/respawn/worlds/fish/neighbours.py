"""What each fish can tell of those around it: how many, where, how fast.

Ways to the same seven numbers: a compiled kernel on the CPU, one on a GPU; where neither is, all pairs of a school at
once while schools are small; and for large schools fish sorted by x, of which each block looks only at those within
reach, so that no array of all pairs is ever made.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from respawn.worlds.fish import kernels
from respawn.worlds.fish.constants import FISH_MAX_SPEED

COUNT, NEAR_X, NEAR_Y, NEAREST, SPEED_MEAN, SPEED_STD, DIVERGENCE = range(7)
NUM_STATISTICS = 7
LARGE_SCHOOL = 256
"""From here on all pairs at once take too much memory."""
MOST_IN_ONE_KERNEL = 2048
"""Larger schools do not fit into a GPU kernel that looks at a whole school at once."""
_BLOCK = 128
_PAIRS_AT_ONCE = 1 << 26


def _gpu_kernel() -> "Callable[[Tensor, Tensor, float, int], Tensor] | None":
    try:
        from respawn.worlds.fish.neighbours_triton import triton_statistics
    except ImportError:  # a torch without Triton: slower, and the same to rounding
        return None
    return triton_statistics


class Neighbourhood:
    """Computes the statistics of S schools in the way that suits the device and the number of fish."""

    def __init__(self, radius: float, average_count: int, device: torch.device, threads: int = 0) -> None:
        """Remember what counts as near.

        Args:
          radius: how far away a fish still counts.
          average_count: nearest neighbours whose places are averaged.
          device: where the fish are.
          threads: for the compiled kernel; 0: as many as torch has.
        """
        self._radius = radius
        self._average_count = average_count
        self._native = kernels.compiled(device)
        self._threads = threads
        self._on_gpu = _gpu_kernel() if device.type == "cuda" else None

    def statistics(self, fish: Tensor, alive: Tensor) -> Tensor:
        """[S, N, 7] from fish [4, S, N]; zeros for the dead and for the lonely."""
        if self._native is None:
            fits = alive.shape[1] <= MOST_IN_ONE_KERNEL
            compute = self._on_gpu if self._on_gpu is not None and fits else torch_statistics
            return compute(fish, alive, self._radius, self._average_count)
        out = torch.empty(*alive.shape, NUM_STATISTICS)
        threads = self._threads or torch.get_num_threads()
        self._native.neighbours_of(fish, alive, self._radius, self._average_count, out, threads)
        return out


def torch_statistics(fish: Tensor, alive: Tensor, radius: float, average_count: int) -> Tensor:
    """The same in torch alone, on any device."""
    num_schools, num_fish = alive.shape
    if num_fish > LARGE_SCHOOL:
        return _sorted_statistics(fish, alive, radius, average_count)
    at_once = max(1, _PAIRS_AT_ONCE // num_fish**2)
    if num_schools <= at_once:
        return _pairs(fish, alive, fish, alive, radius, average_count)
    parts = []
    for first in range(0, num_schools, at_once):
        some, living = fish[:, first : first + at_once], alive[first : first + at_once]
        parts.append(_pairs(some, living, some, living, radius, average_count))
    return torch.cat(parts)


def _sorted_statistics(fish: Tensor, alive: Tensor, radius: float, average_count: int) -> Tensor:
    """Blocks of fish in the order of x against those that are within reach of the block."""
    # The dead go to the far right, out of everybody's reach.
    keys = torch.where(alive, fish[0], torch.finfo(torch.float32).max)
    order = keys.argsort(1)  # [S, N]
    xs = keys.gather(1, order).contiguous()
    sorted_fish = fish.gather(2, order.expand(4, -1, -1))
    sorted_alive = alive.gather(1, order)
    num_fish = alive.shape[1]
    out = torch.zeros(*alive.shape, NUM_STATISTICS, device=fish.device)
    for first in range(0, num_fish, _BLOCK):
        last = min(first + _BLOCK, num_fish)
        low = torch.searchsorted(xs, xs[:, first : first + 1] - radius).min()
        # A block may end with the dead, whose x says nothing: go by its last living fish.
        rightmost = torch.where(sorted_alive[:, first:last], xs[:, first:last], -torch.inf).amax(1, keepdim=True)
        high = torch.searchsorted(xs, rightmost + radius, right=True).max()
        reach = slice(int(low), max(int(high), int(low)))
        block = _pairs(
            sorted_fish[:, :, first:last],
            sorted_alive[:, first:last],
            sorted_fish[:, :, reach],
            sorted_alive[:, reach],
            radius,
            average_count,
            shift=first - int(low),
        )
        out[:, first:last] = block
    return torch.zeros_like(out).scatter(1, order[..., None].expand(-1, -1, NUM_STATISTICS), out)


def _pairs(
    fish: Tensor,
    alive: Tensor,
    others: Tensor,
    others_alive: Tensor,
    radius: float,
    average_count: int,
    shift: int = 0,
) -> Tensor:
    """Statistics [S, n, 7] of some fish among others [4, S, m]; fish i is the other number i + shift."""
    num, num_others = alive.shape[1], others_alive.shape[1]
    if num_others == 0:
        return torch.zeros(*alive.shape, NUM_STATISTICS, device=fish.device)
    dx = others[0][:, None, :] - fish[0][:, :, None]  # [S, n, m]
    dy = others[1][:, None, :] - fish[1][:, :, None]
    distance = (dx * dx + dy * dy).sqrt()
    places = torch.arange(num, device=fish.device)[:, None] + shift
    itself = places == torch.arange(num_others, device=fish.device)  # [n, m]
    near = (distance <= radius) & alive[:, :, None] & others_alive[:, None, :] & ~itself
    count = near.sum(-1)  # [S, n]
    some = count.clamp(min=1).float()
    closest, which = torch.where(near, distance, torch.inf).topk(min(average_count, num_others), -1, largest=False)
    chosen = closest.isfinite()
    num_chosen = chosen.sum(-1).clamp(min=1)
    near_x = torch.where(chosen, dx.gather(-1, which), 0.0).sum(-1) / num_chosen / radius
    near_y = torch.where(chosen, dy.gather(-1, which), 0.0).sum(-1) / num_chosen / radius
    nearest = torch.where(count > 0, closest[..., 0], 0.0) / radius
    speed = (others[2] * others[2] + others[3] * others[3]).sqrt()[:, None, :] / FISH_MAX_SPEED  # [S, 1, m]
    speed_mean = torch.where(near, speed, 0.0).sum(-1) / some
    spread = torch.where(near, speed - speed_mean[..., None], 0.0).square().sum(-1) / some
    leaving = (others[2][:, None, :] * dx + others[3][:, None, :] * dy) / distance
    divergence = torch.where(near & (distance > 0), leaving, 0.0).sum(-1) / some / FISH_MAX_SPEED
    columns = [count.float(), near_x, near_y, nearest, speed_mean, spread.sqrt(), divergence]
    return torch.stack(columns, -1).masked_fill((count == 0)[..., None], 0.0)
