"""Generalised advantages (Schulman et al. 2016, https://arxiv.org/abs/1506.02438)."""

from typing import NamedTuple

import torch
from torch import Tensor

from respawn.maths.rows import check_rows


class GAE(NamedTuple):
    """What on-policy rows teach the policy and the critic."""

    advantages: Tensor  # [T, B]
    targets: Tensor  # [T, B]


@torch.no_grad()
def gae(
    rewards: Tensor, values: Tensor, next_values: Tensor, ended: Tensor, *, discount: float, trace_decay: float
) -> GAE:
    """Exponentially weighted advantages, and the value targets that go with them.

    Args:
      rewards: [T, B].
      values: [T, B] of each row's observation.
      next_values: [T, B] of what comes after each row, as `bootstrap.next_values` prepares them.
      ended: [T, B] bool, terminated or truncated: nothing flows back over these rows' ends.
      discount: gamma.
      trace_decay: lambda; 0 trusts the critic after one step, 1 trusts the rewards alone.

    Returns:
      GAE(advantages [T, B], targets [T, B]), without gradient.
    """
    check_rows(numbers=(rewards, values, next_values), flags=(ended,))
    deltas = rewards + discount * next_values - values  # [T, B]
    carries = (~ended) * (discount * trace_decay)  # [T, B] float32
    advantages = torch.empty_like(deltas)
    running = torch.zeros_like(deltas[0])  # [B]
    for t in reversed(range(deltas.shape[0])):
        running = torch.addcmul(deltas[t], carries[t], running)
        advantages[t] = running
    return GAE(advantages, advantages + values)
