"""Off-policy targets (Espeholt et al. 2018, https://arxiv.org/abs/1802.01561)."""

from typing import NamedTuple

import torch
from torch import Tensor

from respawn.maths.rows import check_rows


class VTrace(NamedTuple):
    """What rows of an older policy teach the policy and the critic."""

    targets: Tensor  # [T, B]
    advantages: Tensor  # [T, B]


@torch.no_grad()
def vtrace(  # noqa: PLR0913 - the formula has this many letters
    log_rhos: Tensor,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    ended: Tensor,
    *,
    discount: float,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
    pg_rho_clip: float = 1.0,
    trace_decay: float = 1.0,
) -> VTrace:
    """Off-policy value targets and advantages (eq. 1 of the paper, with its remark 2 for `trace_decay`).

    Args:
      log_rhos: [T, B] target minus behaviour log-probability of the action taken.
      rewards: [T, B].
      values: [T, B] of each row's observation under the target policy.
      next_values: [T, B] of what comes after each row, as `bootstrap.next_values` prepares them.
      ended: [T, B] bool, terminated or truncated: nothing flows back over these rows' ends.
      discount: gamma.
      rho_clip: bound on the weight of one step's error; decides which policy the values converge to.
      c_clip: bound on how much of a later error flows back; decides only how fast they converge.
      pg_rho_clip: bound on the weight of one step in the policy gradient.
      trace_decay: lambda.

    Returns:
      VTrace(targets [T, B], advantages [T, B]), without gradient. Advantages already carry their clipped rho; they look
      at the next row's target inside an episode, and at `next_values` at its end and in the last row.
    """
    check_rows(numbers=(log_rhos, rewards, values, next_values), flags=(ended,))
    rhos = log_rhos.exp()  # [T, B]
    deltas = rhos.clamp(max=rho_clip) * (rewards + discount * next_values - values)
    carries = rhos.clamp(max=c_clip) * (~ended) * (discount * trace_decay)
    corrections = torch.empty_like(deltas)  # v_t - V(x_t)
    running = torch.zeros_like(deltas[0])  # [B]
    for t in reversed(range(deltas.shape[0])):
        running = torch.addcmul(deltas[t], carries[t], running)
        corrections[t] = running
    targets = values + corrections
    next_targets = next_values.clone()
    next_targets[:-1] = torch.where(ended[:-1], next_values[:-1], targets[1:])
    advantages = rhos.clamp(max=pg_rho_clip) * (rewards + discount * next_targets - values)
    return VTrace(targets, advantages)
