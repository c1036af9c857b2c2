"""Entries by their mass on any device: running sums over all of them, searched for all targets at once.

On a GPU this takes as long for a million entries as for a thousand; on a CPU it is slower than the tree of
`sum_tree.py`. Masses are whole numbers: in float32 the running sums of many entries lose the small ones, and in any
float they depend on the order of adding, which a GPU does not promise.
"""

import torch
from torch import Tensor


class PrefixSampler:
    """Masses of `capacity` entries on one device."""

    def __init__(self, capacity: int, device: torch.device) -> None:
        assert capacity > 0, f"expected a positive capacity, got {capacity}"
        self._masses = torch.zeros(capacity, dtype=torch.int64, device=device)
        self._ends: Tensor | None = None  # running sums, made when they are needed

    @property
    def total(self) -> Tensor:
        """The sum of all masses, a tensor of one number, so that nothing waits for it."""
        return self._running_sums()[-1]

    def masses(self, slots: Tensor) -> Tensor:
        """The masses [N] of some entries."""
        return self._masses[slots]

    def assign(self, slots: Tensor, masses: Tensor) -> None:
        """Set the masses [N] of different entries [N]; none may be negative."""
        self._masses[slots] = masses
        self._ends = None

    def find(self, targets: Tensor) -> Tensor:
        """For each target [N], 0 up to, not including, the total: the entry in whose share of the sum it lies.

        Entries lie one after the other, each as wide as its mass; one without mass is never found.
        """
        return torch.searchsorted(self._running_sums(), targets, right=True)

    def _running_sums(self) -> Tensor:
        if self._ends is None:
            self._ends = self._masses.cumsum(0)
        return self._ends
