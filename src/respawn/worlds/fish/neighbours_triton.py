"""Neighbour statistics on a GPU in one kernel: every fish looks at its whole school, and no pair is ever written down.

Imported only where Triton is, which comes with torch's CUDA builds.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_PAIRS_A_PROGRAM = 1024
"""More do not fit into registers, and spilling them makes it three times as slow; but never one fish alone."""


@triton.jit  # type: ignore[untyped-decorator]
def _statistics(  # type: ignore[no-untyped-def]  # noqa: PLR0913 - a kernel has no dataclasses
    fish,
    alive,
    out,
    plane,
    num_fish,
    radius,
    average_count: tl.constexpr,
    block: tl.constexpr,
    rows: tl.constexpr,
):
    school = tl.program_id(0).to(tl.int64)
    base = school * num_fish
    me = tl.program_id(1) * rows + tl.arange(0, rows)
    other = tl.arange(0, block)
    is_me, is_other = me < num_fish, other < num_fish
    mine, theirs = base + me, base + other
    x = tl.load(fish + mine, mask=is_me, other=0.0)
    y = tl.load(fish + plane + mine, mask=is_me, other=0.0)
    living = tl.load(alive + mine, mask=is_me, other=0) != 0
    their_x = tl.load(fish + theirs, mask=is_other, other=0.0)
    their_y = tl.load(fish + plane + theirs, mask=is_other, other=0.0)
    their_vx = tl.load(fish + 2 * plane + theirs, mask=is_other, other=0.0)
    their_vy = tl.load(fish + 3 * plane + theirs, mask=is_other, other=0.0)
    they_live = tl.load(alive + theirs, mask=is_other, other=0) != 0

    dx = their_x[None, :] - x[:, None]
    dy = their_y[None, :] - y[:, None]
    squared = dx * dx + dy * dy
    near = (squared <= radius * radius) & they_live[None, :] & living[:, None] & (me[:, None] != other[None, :])
    count = tl.sum(near.to(tl.float32), 1)
    some = tl.maximum(count, 1.0)
    distance = tl.sqrt(squared)
    speed = tl.sqrt(their_vx * their_vx + their_vy * their_vy)[None, :] * 0.5
    mean = tl.sum(tl.where(near, speed, 0.0), 1) / some
    off = tl.where(near, speed - mean[:, None], 0.0)
    spread = tl.sqrt(tl.sum(off * off, 1) / some)
    leaving = (their_vx[None, :] * dx + their_vy[None, :] * dy) / distance
    divergence = tl.sum(tl.where(near & (distance > 0.0), leaving, 0.0), 1) / some * 0.5

    left = tl.where(near, squared, float("inf"))
    sum_x = tl.zeros_like(x)
    sum_y = tl.zeros_like(x)
    nearest = tl.zeros_like(x)
    for turn in tl.static_range(average_count):
        least = tl.min(left, 1)
        place = tl.argmin(left, 1)
        chosen = (other[None, :] == place[:, None]) & (left < float("inf"))
        sum_x += tl.sum(tl.where(chosen, dx, 0.0), 1)
        sum_y += tl.sum(tl.where(chosen, dy, 0.0), 1)
        if turn == 0:
            nearest = tl.where(least < float("inf"), tl.sqrt(least), 0.0)
        left = tl.where(chosen, float("inf"), left)
    chosen_count = tl.maximum(tl.minimum(count, average_count), 1.0)

    row = out + mine * 7
    tl.store(row, count, mask=is_me)
    tl.store(row + 1, sum_x / chosen_count / radius, mask=is_me)
    tl.store(row + 2, sum_y / chosen_count / radius, mask=is_me)
    tl.store(row + 3, nearest / radius, mask=is_me)
    tl.store(row + 4, mean, mask=is_me)
    tl.store(row + 5, spread, mask=is_me)
    tl.store(row + 6, divergence, mask=is_me)


def triton_statistics(fish: Tensor, alive: Tensor, radius: float, average_count: int) -> Tensor:
    """[S, N, 7] from fish [4, S, N] on a GPU; see `neighbours.torch_statistics`."""
    num_schools, num_fish = alive.shape
    fish = fish.contiguous()
    out = torch.empty(num_schools, num_fish, 7, device=fish.device)
    block = max(16, triton.next_power_of_2(num_fish))
    rows = min(max(2, _PAIRS_A_PROGRAM // block), triton.next_power_of_2(num_fish))
    grid: tuple[Any, ...] = (num_schools, triton.cdiv(num_fish, rows))
    _statistics[grid](
        fish,
        alive.contiguous().view(torch.uint8),
        out,
        num_schools * num_fish,
        num_fish,
        radius,
        average_count,
        block,
        rows,
    )
    return out
