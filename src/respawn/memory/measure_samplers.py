"""How long a draw by priority takes: the tree, running sums on a device, and NumPy's own choice, in turn."""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

from respawn.memory.prefix_sampler import PrefixSampler
from respawn.memory.priorities import stratified_targets, stratified_targets_on_host, to_masses
from respawn.memory.sum_tree import SumTree

ALPHA, EPSILON = 0.6, 0.01


class _Entries:
    """The same priorities in every sampler, and draws that begin with sums that are out of date, as in a training."""

    def __init__(self, size: int, draws: int, device: torch.device) -> None:
        generator = torch.Generator().manual_seed(size)
        errors = torch.rand(size, generator=generator, dtype=torch.float64).pow(4)
        self._masses = to_masses(errors, alpha=ALPHA, epsilon=EPSILON, capacity=size)
        self._changed = torch.randperm(size, generator=generator)[:draws]
        self._uniforms = torch.rand(draws, generator=generator, dtype=torch.float64)
        self._probabilities = (self._masses.double() / self._masses.sum()).numpy()
        self._dice = np.random.default_rng(size)
        self._device = device
        self._tree = SumTree(size)
        self._tree.assign(np.arange(size), self._masses.numpy())
        self._sums = PrefixSampler(size, device)
        self._sums.assign(torch.arange(size, device=device), self._masses.to(device))

    def numpy(self) -> float:
        """Seconds of one `choice` with replacement; its probabilities are made beforehand, which spares it work."""
        began = perf_counter()
        self._dice.choice(len(self._probabilities), len(self._uniforms), p=self._probabilities)
        return perf_counter() - began

    def tree_set(self) -> float:
        """Seconds of setting as many priorities as are drawn."""
        slots, masses = self._changed.numpy(), self._masses[self._changed].numpy()
        began = perf_counter()
        self._tree.assign(slots, masses)
        return perf_counter() - began

    def tree(self) -> float:
        """Seconds of one draw."""
        self.tree_set()
        began = perf_counter()
        self._tree.find(stratified_targets_on_host(self._uniforms.numpy(), self._tree.total))
        return perf_counter() - began

    def device_set(self) -> float:
        """Seconds of setting as many priorities as are drawn."""
        slots, masses = self._changed.to(self._device), self._masses[self._changed].to(self._device)
        self._wait()
        began = perf_counter()
        self._sums.assign(slots, masses)
        self._wait()
        return perf_counter() - began

    def device(self) -> float:
        """Seconds of one draw, the way of the dice to the device and of the entries back included."""
        self.device_set()
        began = perf_counter()
        self._sums.find(stratified_targets(self._uniforms.to(self._device), self._sums.total)).cpu()
        return perf_counter() - began

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def measure_samplers(size: int, draws: int, rounds: int, device: torch.device) -> dict[str, Any]:
    """Medians in milliseconds, and how many times as fast as NumPy each of the two draws."""
    entries = _Entries(size, draws, device)
    ways: dict[str, Callable[[], float]] = {
        "numpy_ms": entries.numpy,
        "tree_ms": entries.tree,
        "device_ms": entries.device,
        "tree_set_ms": entries.tree_set,
        "device_set_ms": entries.device_set,
    }
    for way in ways.values():
        way()  # the first time pages memory in, and builds what a GPU runs
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(1000 * way())
    found = {name: median(taken) for name, taken in times.items()}
    return {
        **found,
        "tree_times_numpy": found["numpy_ms"] / found["tree_ms"],
        "device_times_numpy": found["numpy_ms"] / found["device_ms"],
    }
