"""Which of the two samplers draws: asked for, measured, or fallen back to. Both draw the same numbers."""

from collections.abc import Callable
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.records import Event
from respawn.memory.prefix_sampler import PrefixSampler
from respawn.memory.priorities import stratified_targets, stratified_targets_on_host
from respawn.memory.sum_tree import SumTree

SamplerChoice: TypeAlias = Literal["tree", "device", "auto"]
SLOW_DRAWS = 3
"""So many slow draws in a row are no accident."""
TRIAL_DRAWS = 5


class Draw(NamedTuple):
    """Entries that were drawn, all on the sampler's device."""

    slots: Tensor  # [N] int64
    masses: Tensor  # [N] int64
    total: Tensor  # int64, one number


class ChosenSampler:
    """Masses of all entries, and draws by them."""

    def __init__(
        self,
        choice: SamplerChoice,
        capacity: int,
        device: torch.device,
        *,
        fallback_ms: float = 0.0,
        notify: Callable[[Event], None] = lambda event: None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """A `fallback_ms` above 0: the device's sampler is given up when it is slower than that, thrice in a row."""
        self._device = device
        self._notify = notify
        self._clock = clock
        self._fallback_ms = fallback_ms
        self._slow_draws = 0
        self._undecided = choice == "auto"
        self._masses = np.zeros(capacity, dtype=np.int64)  # what both would have to know, kept for statistics and saves
        self._tree = SumTree(capacity) if choice != "device" else None
        self._prefix = PrefixSampler(capacity, device) if choice != "tree" else None

    @property
    def on_device(self) -> bool:
        """Whether the device's sampler draws now; while nobody has been chosen, it does not."""
        return self._prefix is not None and not self._undecided

    def masses(self, num_slots: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """The masses of the first entries; not to be changed."""
        return self._masses[:num_slots]

    def assign(self, slots: "np.ndarray[tuple[int], np.dtype[np.int64]]", masses: Tensor) -> None:
        """Set the masses [N] of different entries [N]."""
        on_host = masses.cpu().numpy()
        self._masses[slots] = on_host
        if self._tree is not None:
            self._tree.assign(slots, on_host)
        if self._prefix is not None:
            self._prefix.assign(torch.from_numpy(slots).to(self._device), masses.to(self._device))

    def draw(self, uniforms: Tensor) -> Draw:
        """One entry for each of `uniforms` [N] (float64, on the CPU), each from its own Nth of all the mass."""
        if self._undecided:
            self._decide(uniforms)
        if self._prefix is None:
            return self._from_tree(uniforms)
        began = self._clock()
        drawn = self._from_device(uniforms)
        if self._fallback_ms > 0:
            self._wait()
            self._watch(1000 * (self._clock() - began))
        return drawn

    def _from_tree(self, uniforms: Tensor) -> Draw:
        assert self._tree is not None
        total = self._tree.total
        slots = self._tree.find(stratified_targets_on_host(uniforms.numpy(), total))
        found = torch.from_numpy(slots), torch.from_numpy(self._tree.masses(slots)), torch.tensor(total)
        return Draw(*(tensor.to(self._device) for tensor in found))

    def _from_device(self, uniforms: Tensor) -> Draw:
        assert self._prefix is not None
        total = self._prefix.total
        slots = self._prefix.find(stratified_targets(uniforms.to(self._device), total))
        return Draw(slots, self._prefix.masses(slots), total)

    def _decide(self, uniforms: Tensor) -> None:
        """Try both, each with sums that are new, as after every update, and keep the faster one."""
        assert self._tree is not None and self._prefix is not None
        tree_ms = self._trial(lambda: self._from_tree(uniforms))
        device_ms = self._trial(lambda: self._from_device(uniforms))
        self._undecided = False
        if device_ms < tree_ms:
            self._tree = None
        else:
            self._prefix = None
        kept = "the device's sampler" if device_ms < tree_ms else "the tree"
        message = (
            f"replay draws with {kept}: a draw takes {device_ms:.2f} ms on the device and {tree_ms:.2f} in the tree"
        )
        self._notify(Event("replay_sampler", message, facts={"device_ms": device_ms, "tree_ms": tree_ms}))

    def _trial(self, draw: Callable[[], Draw]) -> float:
        times = []
        slot = np.zeros(1, dtype=np.int64)
        for _ in range(TRIAL_DRAWS):
            self.assign(slot, torch.from_numpy(self._masses[slot]))
            self._wait()
            began = self._clock()
            draw()
            self._wait()
            times.append(1000 * (self._clock() - began))
        return sorted(times)[TRIAL_DRAWS // 2]

    def _watch(self, milliseconds: float) -> None:
        self._slow_draws = self._slow_draws + 1 if milliseconds > self._fallback_ms else 0
        if self._slow_draws < SLOW_DRAWS:
            return
        self._prefix = None
        self._tree = SumTree(len(self._masses))
        self._tree.assign(np.arange(len(self._masses)), self._masses)
        message = (
            f"replay draws with the tree from now on: {SLOW_DRAWS} draws in a row took more than the "
            f"{self._fallback_ms:g} ms of learner.replay.fallback-ms on the device, the last one {milliseconds:.2f}; "
            "the numbers stay the same"
        )
        self._notify(Event("replay_sampler_fallback", message, "warning", {"milliseconds": milliseconds}))

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
