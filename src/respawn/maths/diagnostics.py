"""Numbers about an update that nobody learns from but everybody looks at. No gradient; each is a tensor of one number.

They stay tensors so that reading them does not make an accelerator wait; call `.item()` once, at the end.
"""

import torch
from torch import Tensor

from respawn.maths.losses import valid_sum
from respawn.maths.rows import check_rows


@torch.no_grad()
def valid_mean(numbers: Tensor, valid: Tensor) -> Tensor:
    """The mean over valid rows; 0 if there are none."""
    return valid_sum(numbers, valid) / valid.sum().clamp(min=1)


@torch.no_grad()
def explained_variance(values: Tensor, targets: Tensor, valid: Tensor) -> Tensor:
    """How much of the targets' spread the values predict: 1 all, 0 none, below 0 worse than none.

    Targets that are all alike leave nothing to explain: the answer is then 0.
    """
    check_rows(numbers=(values, targets), flags=(valid,))
    spread = _variance(targets, valid)
    unexplained = _variance(targets - values, valid)
    return torch.where(spread > 0.0, 1.0 - unexplained / spread, torch.zeros_like(spread))


@torch.no_grad()
def approximate_kl(log_probs: Tensor, behaviour_log_probs: Tensor, valid: Tensor) -> Tensor:
    """KL(behaviour || policy) from the actions taken: mean of (r - 1) - log r, never negative, of low variance.

    The estimator k3 of http://joschu.net/blog/kl-approx.html.
    """
    log_ratios = log_probs - behaviour_log_probs
    return valid_mean(log_ratios.expm1() - log_ratios, valid)


@torch.no_grad()
def clipped_fraction(log_probs: Tensor, behaviour_log_probs: Tensor, valid: Tensor, *, clip: float) -> Tensor:
    """The share of valid rows whose probability ratio is farther than `clip` from 1."""
    outside = (log_probs - behaviour_log_probs).expm1().abs() > clip
    return valid_mean(outside.float(), valid)


def _variance(numbers: Tensor, valid: Tensor) -> Tensor:
    centred = numbers - valid_mean(numbers, valid)
    return valid_mean(centred.square(), valid)
