"""Losses over rows. Each is a sum over valid rows divided by a normaliser that the caller names.

Naming the normaliser (usually the number of valid rows in the whole batch) makes the gradients of the parts of a batch
add up to the gradient of the batch, however it is cut into pieces.
"""

import torch
from torch import Tensor

from respawn.maths.rows import check_rows


def valid_sum(numbers: Tensor, valid: Tensor) -> Tensor:
    """The sum over valid rows; whatever stands in the others, NaN included, does not count."""
    check_rows(numbers=(numbers,), flags=(valid,))
    return numbers.masked_fill(~valid, 0.0).sum()


def policy_gradient_loss(log_probs: Tensor, advantages: Tensor, valid: Tensor, normaliser: float | Tensor) -> Tensor:
    """Minus log-probability times advantage; all rows alike, [T, B] or [N]."""
    check_rows(numbers=(log_probs, advantages), flags=(valid,))
    return valid_sum(-log_probs * advantages.detach(), valid) / normaliser


def clipped_surrogate_loss(
    log_probs: Tensor,
    behaviour_log_probs: Tensor,
    advantages: Tensor,
    valid: Tensor,
    normaliser: float | Tensor,
    *,
    clip: float,
) -> Tensor:
    """PPO's pessimistic bound (Schulman et al. 2017, eq. 7, https://arxiv.org/abs/1707.06347), as a loss."""
    check_rows(numbers=(log_probs, behaviour_log_probs, advantages), flags=(valid,))
    fixed = advantages.detach()
    ratios = (log_probs - behaviour_log_probs.detach()).exp()
    gains = torch.minimum(ratios * fixed, ratios.clamp(1.0 - clip, 1.0 + clip) * fixed)
    return valid_sum(-gains, valid) / normaliser


def value_loss(values: Tensor, targets: Tensor, valid: Tensor, normaliser: float | Tensor) -> Tensor:
    """Half the squared distance to the targets."""
    check_rows(numbers=(values, targets), flags=(valid,))
    return valid_sum(0.5 * (values - targets.detach()).square(), valid) / normaliser


def clipped_value_loss(
    values: Tensor,
    behaviour_values: Tensor,
    targets: Tensor,
    valid: Tensor,
    normaliser: float | Tensor,
    *,
    clip: float,
) -> Tensor:
    """Half the squared distance to the targets, or that of the value moved at most `clip`, whichever is worse."""
    check_rows(numbers=(values, behaviour_values, targets), flags=(valid,))
    old, fixed = behaviour_values.detach(), targets.detach()
    moved = old + (values - old).clamp(-clip, clip)
    worse = torch.maximum((values - fixed).square(), (moved - fixed).square())
    return valid_sum(0.5 * worse, valid) / normaliser


def entropy_loss(entropies: Tensor, valid: Tensor, normaliser: float | Tensor) -> Tensor:
    """Minus the entropy: adding this, times its price, to a loss rewards undecided policies."""
    return valid_sum(-entropies, valid) / normaliser


def normalised(advantages: Tensor, valid: Tensor) -> Tensor:
    """Advantages shifted and scaled to mean 0 and deviation 1 over the valid rows; the others become 0."""
    count = valid.sum().clamp(min=1)
    centred = (advantages - valid_sum(advantages, valid) / count).masked_fill(~valid, 0.0)
    deviation = (centred.square().sum() / count).sqrt()
    return centred / (deviation + 1e-8)
