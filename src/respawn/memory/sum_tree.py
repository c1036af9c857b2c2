"""A sum tree on the CPU: entries by their mass, set many at a time, found many at a time.

Masses are whole numbers, so every sum is exact whatever the order of adding: that is what makes the draws of this tree
equal to those of `prefix_sampler.py` to the last bit.
"""

from typing import Any, TypeAlias

import numpy as np

Whole: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

FAN_OUT = 16
WIDEST_TOP = 4_096
"""A top row of this many sums is searched at once: cheaper than two more levels of the tree."""


class SumTree:
    """Masses of `capacity` entries, and above them rows of sums over 16 each, up to a short row."""

    def __init__(self, capacity: int) -> None:
        assert capacity > 0, f"expected a positive capacity, got {capacity}"
        self.capacity = capacity
        self._rows = [np.zeros(_padded(capacity), dtype=np.int64)]
        while len(self._rows[-1]) > WIDEST_TOP:
            self._rows.append(np.zeros(_padded(len(self._rows[-1]) // FAN_OUT), dtype=np.int64))
        self._top_ends: Whole | None = None  # running sums of the top row, made when they are needed

    @property
    def total(self) -> int:
        """The sum of all masses."""
        return int(self._ends()[-1])

    def masses(self, slots: Whole) -> Whole:
        """The masses [N] of some entries."""
        found: Whole = self._rows[0][slots]
        return found

    def assign(self, slots: Whole, masses: Whole) -> None:
        """Set the masses [N] of different entries [N]; none may be negative."""
        self._rows[0][slots] = masses
        below, changed = self._rows[0], slots
        for row in self._rows[1:]:
            changed = np.unique(changed // FAN_OUT)
            row[changed] = below.reshape(-1, FAN_OUT)[changed].sum(axis=1)
            below = row
        self._top_ends = None

    def find(self, targets: Whole) -> Whole:
        """For each target [N], 0 up to, not including, the total: the entry in whose share of the sum it lies.

        Entries lie one after the other, each as wide as its mass; one without mass is never found.
        """
        ends = self._ends()
        nodes = np.searchsorted(ends, targets, side="right")
        left = targets - (ends[nodes] - self._rows[-1][nodes])
        for row in reversed(self._rows[:-1]):
            children = row.reshape(-1, FAN_OUT)[nodes]  # [N, 16]
            child_ends = children.cumsum(axis=1)
            places = (child_ends <= left[:, None]).sum(axis=1)
            picked = np.arange(len(nodes)), places
            left = left - (child_ends[picked] - children[picked])
            nodes = nodes * FAN_OUT + places
        return nodes.astype(np.int64, copy=False)

    def _ends(self) -> Whole:
        if self._top_ends is None:
            self._top_ends = self._rows[-1].cumsum()
        return self._top_ends


def _padded(length: int) -> int:
    return -(-length // FAN_OUT) * FAN_OUT
