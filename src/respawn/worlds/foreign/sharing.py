"""The arrays that environments are stepped through, in this process's memory or in memory shared with workers."""

import math
import mmap
import os
import tempfile
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from respawn.errors import ConfigError
from respawn.worlds.foreign.spaces import Array, Layout

ALIGNMENT = 64
PAGE_BYTES = mmap.PAGESIZE


class Stage(IntEnum):
    """What a group of lanes is busy with."""

    START = 0
    IMPORT = 1
    MAKE = 2
    WAIT = 3
    RESET = 4
    STEP = 5
    STATE = 6
    RESTORE = 7
    RENDER = 8
    CLOSE = 9


NO_LANE = -1


@dataclass(frozen=True)
class Buffers:
    """All lanes' arrays. Observations have one slot or two: with two, the last ones outlive a step that goes wrong."""

    observations: Array  # [slots, B, ...]
    finals: Array  # [B, ...] the last observation of the episode that ended last
    rewards: Array  # [B] float32
    terminated: Array  # [B] bool
    truncated: Array  # [B] bool
    actions: Array  # [B] or [B, A]


def local_buffers(layout: Layout, num_lanes: int) -> Buffers:
    """Arrays in this process's own memory, with one slot."""
    shapes = _shapes(layout, num_lanes, 1)
    try:
        return Buffers(**{name: np.zeros(shape, dtype) for name, (shape, dtype) in shapes.items()})
    except (MemoryError, ValueError) as problem:  # ValueError: more bytes than an address can tell
        raise _too_large(layout, num_lanes) from problem


class SharedArrays:
    """Memory without a name, shared through an inherited file descriptor; the system frees it with its last user.

    It begins with two numbers a worker, which say what it is busy with: its stage and its lane. They can be read when
    the worker itself can no longer answer. The arrays follow, once their shapes are known.
    """

    def __init__(self, num_workers: int, descriptor: int | None = None) -> None:
        self._header_bytes = -(-num_workers * 8 // PAGE_BYTES) * PAGE_BYTES
        if descriptor is None:
            descriptor = _anonymous_file()
            os.ftruncate(descriptor, self._header_bytes)
        self.descriptor = descriptor
        self._header = memoryview(mmap.mmap(descriptor, self._header_bytes)).cast("i")

    def progress(self, worker: int) -> memoryview:
        """Two writable numbers: the stage and the lane that `worker` is busy with."""
        return self._header[2 * worker : 2 * worker + 2]

    def grow(self, layout: Layout, num_lanes: int) -> None:
        """Make room for the arrays; done once, by the parent."""
        try:
            os.ftruncate(self.descriptor, self._header_bytes + _total_bytes(layout, num_lanes))
        except (OSError, OverflowError) as problem:
            raise _too_large(layout, num_lanes) from problem

    def buffers(self, layout: Layout, num_lanes: int) -> Buffers:
        """The arrays of all lanes, with two slots."""
        try:
            memory = mmap.mmap(self.descriptor, self._header_bytes + _total_bytes(layout, num_lanes))
        except (OSError, OverflowError) as problem:
            raise _too_large(layout, num_lanes) from problem
        arrays, offset = {}, self._header_bytes
        for name, (shape, dtype) in _shapes(layout, num_lanes, 2).items():
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(memory, dtype, count, offset).reshape(shape)
            offset += _aligned(count * np.dtype(dtype).itemsize)
        return Buffers(**arrays)

    def close(self) -> None:
        """Give back the descriptor; the arrays live on as long as somebody holds them."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("respawn-lanes")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _shapes(layout: Layout, num_lanes: int, slots: int) -> dict[str, tuple[tuple[int, ...], str]]:
    seen = layout.observation_shape
    return {
        "observations": ((slots, num_lanes, *seen), layout.observation_dtype),
        "finals": ((num_lanes, *seen), layout.observation_dtype),
        "rewards": ((num_lanes,), "float32"),
        "terminated": ((num_lanes,), "bool"),
        "truncated": ((num_lanes,), "bool"),
        "actions": ((num_lanes, *layout.action_shape), layout.action_dtype),
    }


def _aligned(num_bytes: int) -> int:
    return -(-num_bytes // ALIGNMENT) * ALIGNMENT


def _total_bytes(layout: Layout, num_lanes: int) -> int:
    return sum(
        _aligned(math.prod(shape) * np.dtype(dtype).itemsize) for shape, dtype in _shapes(layout, num_lanes, 2).values()
    )


def _too_large(layout: Layout, num_lanes: int) -> ConfigError:
    return ConfigError(
        f"{num_lanes} lanes with observations of shape {layout.observation_shape} need "
        f"{_total_bytes(layout, num_lanes) / 2**30:.1f} GiB of memory, which cannot be had; use fewer lanes"
    )
