"""How much room a run's disk has, and when that is too little."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from respawn.runs.sizes import size

FULL_DISK_GIB = 1.0
LOW_DISK_GIB, LOW_DISK_SHARE = 10.0, 0.05
"""A twentieth of a large disk may be plenty: both must be low."""


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """What is left on a disk."""

    free_gib: float
    free_share: float


def room_on_disk(path: Path) -> DiskRoom:
    """What is left on the disk that holds `path`."""
    usage = shutil.disk_usage(path)
    return DiskRoom(usage.free / 2**30, usage.free / max(usage.total, 1))


def room_told(free_gib: float) -> str:
    """What is left, in words that say something of the smallest disk too."""
    return size(round(free_gib * 2**30))


def is_nearly_full(free_gib: float, free_share: float | None) -> bool:
    """Whether checkpoints will soon find no room.

    Args:
      free_gib: what is left.
      free_share: of the whole disk; None: that is not known.
    """
    is_low = free_share is not None and free_gib < LOW_DISK_GIB and free_share < LOW_DISK_SHARE
    return is_low or free_gib < FULL_DISK_GIB
