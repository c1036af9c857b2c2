"""Preallocated places, in memory shared by processes, for one rollout each and for the weights it is gathered with.

Whoever has the number of a slot may use it, and nobody else does: the pool until it hands the number to an actor, the
actor until it says that it is done. So weights are never read while they are written, and no row crosses by message.
"""

import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.records import Episode, Memory, Rollout
from respawn.contracts.world import WorldSpec
from respawn.errors import ConfigError
from respawn.memory.rollout_buffer import RolloutBuffer, row_shapes
from respawn.memory.rollouts import row_fields

ALIGNMENT = 64
"""as torch aligns its own memory: matrix products may round differently elsewhere"""


@dataclass(frozen=True)
class SlotLayout:
    """Where everything lies in a slot."""

    spec: WorldSpec
    horizon_steps: int
    tensors: Mapping[str, tuple[tuple[int, ...], torch.dtype, int]]
    """shape, kind and offset, by name"""
    num_bytes: int


def lay_out(spec: WorldSpec, horizon_steps: int, memory: Memory, weights: Mapping[str, Tensor]) -> SlotLayout:
    """A place for every row, for as many cuts as there may be, for the memory before row 0, and for the weights.

    Room for a cut in every row takes no memory: pages that nobody touches are never had.
    """
    rows = row_shapes(spec, horizon_steps)
    observations, observation_dtype = rows["observations"]
    wanted = {f"rows.{name}": row for name, row in rows.items()}
    wanted["cuts"] = ((horizon_steps * spec.num_lanes, *observations[2:]), observation_dtype)
    wanted |= {f"memory.{name}": (tuple(tensor.shape), tensor.dtype) for name, tensor in memory.items()}
    wanted |= {f"weights.{name}": (tuple(tensor.shape), tensor.dtype) for name, tensor in weights.items()}
    tensors, offset = {}, 0
    for name, (shape, dtype) in wanted.items():
        tensors[name] = (shape, dtype, offset)
        offset += -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return SlotLayout(spec, horizon_steps, tensors, offset)


@dataclass(frozen=True)
class RolloutNote:
    """What of a rollout is not rows."""

    weights_version: int
    knobs_version: int
    episodes: tuple[Episode, ...]
    phase_seconds: Mapping[str, float]
    counts: Mapping[str, float]


class Mailbox:
    """Room for messages of any size in a shared file; a pipe would make their writer wait for their reader."""

    def __init__(self, descriptor: int, begin: int = 0) -> None:
        self._descriptor = descriptor
        self._begin = begin

    def put(self, *parcels: bytes, after: int = 0) -> None:
        """Write them one after the other, behind the first `after` bytes."""
        offset = self._begin + after
        for parcel in parcels:
            view = memoryview(parcel)
            while view:
                written = os.pwrite(self._descriptor, view, offset)
                view, offset = view[written:], offset + written

    def get(self, *sizes: int, after: int = 0) -> list[bytes]:
        """Read them again."""
        offset, parcels = self._begin + after, []
        for size in sizes:
            parcel = bytearray()
            while len(parcel) < size:
                read = os.pread(self._descriptor, size - len(parcel), offset + len(parcel))
                if not read:
                    raise EOFError(f"expected a message of {size} bytes in shared memory, found {len(parcel)}")
                parcel += read
            parcels.append(bytes(parcel))
            offset += size
        return parcels


class Slot:
    """One place, as one of the processes sees it."""

    def __init__(self, descriptor: int, layout: SlotLayout) -> None:
        memory = mmap.mmap(descriptor, layout.num_bytes)
        found = {name: _tensor(memory, *place) for name, place in layout.tensors.items()}
        self._rows = _under("rows.", found)
        self._memory = _under("memory.", found)
        self._cuts = found["cuts"]
        self.weights = _under("weights.", found)
        self.mailbox = Mailbox(descriptor, layout.num_bytes)
        self.buffer = RolloutBuffer(layout.spec, layout.horizon_steps, torch.device("cpu"), self._rows)

    def put_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Write down what the next rollout is to be gathered with."""
        for name, place in self.weights.items():
            place.copy_(tensors[name])

    def put(self, rollout: Rollout) -> RolloutNote:
        """Add what our buffer keeps beside its rows; answers what is left to be told."""
        self._cuts[: len(rollout.cut_observations)].copy_(rollout.cut_observations)
        for name, place in self._memory.items():
            place.copy_(rollout.memory[name])
        return RolloutNote(
            weights_version=rollout.weights_version,
            knobs_version=rollout.knobs_version,
            episodes=rollout.episodes,
            phase_seconds=rollout.phase_seconds,
            counts=rollout.counts,
        )

    def rollout(self, note: RolloutNote) -> Rollout:
        """The rollout that is here, as views."""
        rows, cuts = self._rows, self._rows["truncated"].nonzero()
        return Rollout(
            **row_fields(rows),
            cuts=cuts,
            cut_observations=self._cuts[: len(cuts)],
            memory=self._memory,
            weights_version=note.weights_version,
            knobs_version=note.knobs_version,
            episodes=note.episodes,
            phase_seconds=note.phase_seconds,
            counts=note.counts,
        )


class SlotFiles:
    """Memory without a name, shared through inherited descriptors; the system frees it with its last user."""

    def __init__(self, num_slots: int, num_actors: int) -> None:
        self.slots: list[int] = []
        self.mailboxes: list[int] = []
        """one for each actor, for its state"""
        try:
            self.slots.extend(_anonymous_file() for _ in range(num_slots))
            self.mailboxes.extend(_anonymous_file() for _ in range(num_actors))
        except OSError as problem:
            self.close()
            raise ConfigError(
                f"{num_slots} rollouts in flight and {num_actors} actors need more open files than can be had "
                f"({problem.strerror}); use fewer actors, a smaller collection.most-lag, or raise 'ulimit -n'"
            ) from problem

    def open(self, layout: SlotLayout) -> list[Slot]:
        """Make room; done once, by whoever made the files."""
        try:
            for descriptor in self.slots:
                os.ftruncate(descriptor, layout.num_bytes)
            return [Slot(descriptor, layout) for descriptor in self.slots]
        except (OSError, OverflowError, ValueError) as problem:
            raise ConfigError(
                f"{len(self.slots)} rollouts of {layout.num_bytes / 2**30:.1f} GiB are more memory than can be "
                "had; use fewer lanes, a shorter horizon or a smaller collection.most-lag"
            ) from problem

    def close(self) -> None:
        """Give back the descriptors; the tensors live on as long as somebody holds them."""
        for descriptors in (self.slots, self.mailboxes):
            while descriptors:
                os.close(descriptors.pop())


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("respawn-rollouts")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _tensor(memory: Any, shape: tuple[int, ...], dtype: torch.dtype, offset: int) -> Tensor:
    count = math.prod(shape)
    if count == 0:
        return torch.zeros(shape, dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=count, offset=offset).view(shape)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
