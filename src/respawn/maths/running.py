"""Numbers that follow a stream. The only class in this room that remembers."""

import math
from collections import deque
from collections.abc import Iterable

import numpy as np

from respawn.contracts.saveable import StateTree


class Window:
    """The last `size` numbers of a stream."""

    def __init__(self, size: int) -> None:
        assert size > 0, f"expected a positive size, got {size}"
        self._numbers: deque[float] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._numbers)

    def extend(self, numbers: Iterable[float]) -> None:
        """Take in numbers, the oldest falling out."""
        self._numbers.extend(float(number) for number in numbers)

    def mean(self) -> float:
        """The mean; NaN if the window is empty."""
        return float(np.mean(self._numbers)) if self._numbers else math.nan

    def std(self) -> float:
        """The standard deviation (n); NaN if the window is empty."""
        return float(np.std(self._numbers)) if self._numbers else math.nan

    def percentiles(self, *percents: float) -> tuple[float, ...]:
        """The numbers below which each of `percents` of 100 lie, interpolated; NaN if the window is empty."""
        if not self._numbers:
            return (math.nan,) * len(percents)
        # All at once: most of the time goes into putting the window in order.
        return tuple(float(found) for found in np.percentile(self._numbers, percents))

    def state(self) -> StateTree:
        """The numbers, oldest first."""
        return {"numbers": list(self._numbers)}

    def restore(self, state: StateTree) -> None:
        """Go on from `state`."""
        self._numbers.clear()
        self._numbers.extend(state["numbers"])
