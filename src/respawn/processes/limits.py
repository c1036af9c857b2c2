"""What this process may use of its machine, where a container allows it less than the machine has.

A container sees all cores and all memory of its host; what it may use stands in its control group (Linux, version 2).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """What all processes of the group may have together."""

    bytes: int
    used_bytes: int
    """without files that the system keeps in memory only as long as nobody needs the room"""

    @property
    def percent(self) -> float:
        """How much of it is taken."""
        return 100.0 * self.used_bytes / max(self.bytes, 1)


def allowed_cores() -> int:
    """So many cores this process may run on, for however little of the time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_cores() -> int:
    """So many threads or processes can compute at once: cores that this process may run on, within its quota."""
    return max(1, min(allowed_cores(), int(_quota_of_cores())))


def memory_limit() -> MemoryLimit | None:
    """The tightest limit on memory that holds for this process; None where there is none but the machine's."""
    limits = [limit for group in _groups() if (limit := _memory_of(group)) is not None]
    return max(limits, key=lambda limit: limit.percent, default=None)


def _quota_of_cores() -> float:
    """The time that the group may compute in a period, over the period; each group above may allow less."""
    quotas = [_said(group / "cpu.max").split() for group in _groups()]
    return min(
        (int(quota[0]) / int(quota[1]) for quota in quotas if len(quota) == 2 and quota[0] != "max"), default=2.0**31
    )


def _memory_of(group: Path) -> MemoryLimit | None:
    limit, used = _said(group / "memory.max"), _said(group / "memory.current")
    if not limit.isdecimal() or not used.isdecimal():
        return None
    kept = dict(line.split() for line in _said(group / "memory.stat").splitlines())
    return MemoryLimit(int(limit), max(0, int(used) - int(kept.get("inactive_file", 0))))


def _groups() -> Iterator[Path]:
    """This process's control group and those that it is in, the innermost first; none where there are none."""
    inside = next((line[3:] for line in _said(_MEMBERSHIP).splitlines() if line.startswith("0::")), None)
    if inside is None:
        return
    group = _MOUNT / inside.strip("/")
    while group.is_relative_to(_MOUNT):
        yield group
        group = group.parent


def _said(file: Path) -> str:
    """What stands in it, without its end; nothing where it is not there, or not ours to read."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
