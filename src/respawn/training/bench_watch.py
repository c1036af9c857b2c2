"""A stopwatch that also sees who was at work: this process with its children, and everybody else on its cores."""

import contextlib
import os
import time
from types import TracebackType

import psutil

QUIET_CORES = 0.15
"""with more cores than this at work for others, torch's threads wait for each other and no rate is worth much"""
_KINDS = ("user", "nice", "system", "irq", "softirq", "steal")  # not all systems tell them all


class Watch:
    """Use it as a context; afterwards `taken` says what it saw."""

    taken: dict[str, float]
    """`seconds` of the clock, `cpu_seconds` of this process and its children, `others_cores` on average"""

    def __enter__(self) -> "Watch":
        """Begin."""
        self._spent = _own_seconds()
        self._busy = _busy_seconds()
        self._began = time.perf_counter()
        return self

    @property
    def seconds(self) -> float:
        """So far."""
        return time.perf_counter() - self._began

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        seconds = self.seconds
        busy = _busy_seconds() - self._busy
        spent = max(_own_seconds() - self._spent, 0.0)
        others = max(busy - spent, 0.0) / max(seconds, 1e-9)
        self.taken = {"seconds": seconds, "cpu_seconds": spent, "others_cores": others}


def _own_seconds() -> float:
    """Of the processor, by this process, its children and theirs, those that have ended included."""
    own = psutil.Process()
    total = 0.0
    for process in [own, *own.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):  # it may end just now; its parent then has its time
            spent = process.cpu_times()
            total += spent.user + spent.system + spent.children_user + spent.children_system
    return total


def _busy_seconds() -> float:
    """Of the cores that this process may use, by anybody."""
    cores = psutil.cpu_times(percpu=True)
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(cores))
    return float(sum(getattr(cores[core], kind, 0.0) for core in usable if core < len(cores) for kind in _KINDS))
