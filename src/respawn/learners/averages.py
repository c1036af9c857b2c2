"""Averages over the pieces of an update, kept on the device until the end so that nothing waits for them."""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor


class Averages:
    """Means by metric name. Read once, at the end of an update."""

    def __init__(self) -> None:
        self._sums: dict[str, float | Tensor] = {}
        self._weights: dict[str, float | Tensor] = {}

    def add(self, numbers: Mapping[str, float | Tensor], weight: float | Tensor = 1.0) -> None:
        """One more number for each name; `weight` is the share of an optimizer step that it speaks for."""
        for name, number in numbers.items():
            detached = number.detach() if isinstance(number, Tensor) else number
            self._sums[name] = self._sums.get(name, 0.0) + detached * weight
            self._weights[name] = self._weights.get(name, 0.0) + weight

    def means(self) -> dict[str, float]:
        """The mean of each name's numbers; 0 where nothing had any weight."""
        return {
            name: float(total) / weight if (weight := float(self._weights[name])) > 0 else 0.0
            for name, total in self._sums.items()
        }

    def are_finite(self, names: Collection[str]) -> Tensor:
        """Whether these means will all be finite; a tensor, so that nothing waits for it."""
        return torch.stack([torch.as_tensor(self._sums[name]) for name in names]).isfinite().all()
