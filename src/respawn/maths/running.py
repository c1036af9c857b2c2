"""Numbers that follow a stream: moments, a fading mean, a window. The only classes in this room that remember."""

import math
from collections import deque
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.saveable import StateTree


class RunningMoments:
    """Mean and variance of all that was ever seen, batch by batch (Chan et al. 1979), in float64 on the CPU."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.count = 0
        self.mean = torch.zeros(shape, dtype=torch.float64)
        self._squares = torch.zeros(shape, dtype=torch.float64)  # sum of squared distances from the mean

    @property
    def variance(self) -> Tensor:
        """Of everything seen, as if it were all there is; 1 as long as nothing was."""
        return self._squares / self.count if self.count > 0 else torch.ones_like(self._squares)

    def update(self, batch: Tensor) -> None:
        """Take in a batch [N, *shape]."""
        assert batch.shape[1:] == self.mean.shape, (
            f"expected a batch of {tuple(self.mean.shape)}, got {tuple(batch.shape)}"
        )
        if batch.shape[0] == 0:
            return
        numbers = batch.detach().to("cpu", torch.float64)
        batch_mean = numbers.mean(0)
        total = self.count + numbers.shape[0]
        step = batch_mean - self.mean
        self._squares = (
            self._squares
            + (numbers - batch_mean).square().sum(0)
            + step.square() * (self.count * numbers.shape[0] / total)
        )
        self.mean = self.mean + step * (numbers.shape[0] / total)
        self.count = total

    def state(self) -> StateTree:
        """Count, mean and squares."""
        return {"count": self.count, "mean": self.mean.clone(), "squares": self._squares.clone()}

    def restore(self, state: StateTree) -> None:
        """Go on from `state`."""
        self.count = state["count"]
        self.mean = state["mean"].clone()
        self._squares = state["squares"].clone()


class FadingMean:
    """An exponential moving average that is right from the first number on (the correction of Adam)."""

    def __init__(self, decay: float) -> None:
        assert 0.0 <= decay < 1.0, f"expected a decay in [0, 1), got {decay}"
        self._decay = decay
        self._sum = 0.0
        self._weight = 0.0

    @property
    def value(self) -> float:
        """The average; NaN as long as nothing was seen."""
        return self._sum / self._weight if self._weight > 0.0 else math.nan

    def update(self, number: float) -> float:
        """Take in one number and answer the new average."""
        self._sum = self._decay * self._sum + (1.0 - self._decay) * number
        self._weight = self._decay * self._weight + (1.0 - self._decay)
        return self.value

    def state(self) -> StateTree:
        """The weighted sum and its weight."""
        return {"sum": self._sum, "weight": self._weight}

    def restore(self, state: StateTree) -> None:
        """Go on from `state`."""
        self._sum = state["sum"]
        self._weight = state["weight"]


class Window:
    """The last `size` numbers of a stream."""

    def __init__(self, size: int) -> None:
        assert size > 0, f"expected a positive size, got {size}"
        self._numbers: deque[float] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def full(self) -> bool:
        """Whether as many numbers were seen as fit in."""
        return len(self._numbers) == self._numbers.maxlen

    def extend(self, numbers: Iterable[float]) -> None:
        """Take in numbers, the oldest falling out."""
        self._numbers.extend(float(number) for number in numbers)

    def mean(self) -> float:
        """The mean; NaN if the window is empty."""
        return float(np.mean(self._numbers)) if self._numbers else math.nan

    def percentile(self, percent: float) -> float:
        """The number below which `percent` of 100 lie, interpolated; NaN if the window is empty."""
        return float(np.percentile(self._numbers, percent)) if self._numbers else math.nan

    def state(self) -> StateTree:
        """The numbers, oldest first."""
        return {"numbers": list(self._numbers)}

    def restore(self, state: StateTree) -> None:
        """Go on from `state`."""
        self._numbers.clear()
        self._numbers.extend(state["numbers"])
