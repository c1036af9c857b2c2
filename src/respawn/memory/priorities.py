"""From errors to masses, from dice to places among the masses, from masses to weights (Schaul et al. 2016).

A mass is a priority in whole units of 2^-24: sums of whole numbers are exact, so that whoever adds them up, in whatever
order, on whatever device, draws the same (https://arxiv.org/abs/1511.05952 has the formulas).
"""

from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

Whole: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

UNITS = float(2**24)
"""Masses in a priority of 1."""
LARGEST_TOTAL = 2**62
"""What all masses together may come to, so that sums fit into 64 bits."""


def to_masses(errors: Tensor, *, alpha: float, epsilon: float, capacity: int) -> Tensor:
    """Masses [N] int64 of errors [N]: (error + epsilon)^alpha, at least one unit, at most what leaves room for all.

    An error that is not finite counts as none: what nothing can be learned from is drawn as seldom as anything.
    """
    priorities = (errors.double().nan_to_num(nan=0.0, posinf=0.0) + epsilon).pow(alpha)
    heaviest = float(LARGEST_TOTAL // capacity)
    return (priorities * UNITS).clamp(1.0, heaviest).round().long()


def stratified_targets(uniforms: Tensor, total: Tensor) -> Tensor:
    """Places [N] int64, one in each of N equal parts of 0 up to, not including, `total`.

    Only operations that every device rounds alike.

    Args:
      uniforms: [N] float64 from 0 up to, not including, 1.
      total: one number, int64, at least N.
    """
    count = uniforms.numel()
    edges = torch.arange(count + 1, dtype=torch.int64, device=uniforms.device)
    whole, rest = total // count, total % count
    bounds = edges * whole + (edges * rest) // count  # edge i is total * i // count, without overflow
    widths = bounds[1:] - bounds[:-1]
    within = (uniforms * widths.double()).long()
    return bounds[:-1] + torch.minimum(within, widths - 1)


def stratified_targets_on_host(uniforms: Whole, total: int) -> Whole:
    """The same numbers as `stratified_targets`, in NumPy: for a few hundred of them torch takes three times as long."""
    count = len(uniforms)
    edges = np.arange(count + 1, dtype=np.int64)
    whole, rest = divmod(total, count)
    bounds = edges * whole + (edges * rest) // count
    widths = np.diff(bounds)
    within = (uniforms * widths).astype(np.int64)
    targets: Whole = bounds[:-1] + np.minimum(within, widths - 1)
    return targets


def importance_weights(masses: Tensor, total: Tensor, size: int, beta: float) -> Tensor:
    """(size · P)^-beta of each draw [N] as float32, over the largest of them: 1 for the least likely one."""
    probabilities = masses.double() / total.double()
    weights = (size * probabilities).pow(-beta)
    return (weights / weights.max()).float()
