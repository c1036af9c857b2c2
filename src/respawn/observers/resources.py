"""What a run and its machine use: memory, processor, files, disk and GPU, as a stream of its own.

Sampled by a thread at even intervals. Looked at from inside the loop, a GPU seems busy whenever one looks: right after
learning.
"""

from collections.abc import Callable
from contextlib import suppress
from math import isnan, nan
from pathlib import Path

import psutil

from respawn.contracts.records import Event, Record, ResourceReport
from respawn.contracts.saveable import StateTree
from respawn.maths.running import Window
from respawn.observers.family import descendants
from respawn.observers.gpu import Gpu, find_gpu
from respawn.observers.ticker import Ticker
from respawn.observers.whereabouts import Whereabouts
from respawn.processes.limits import memory_limit
from respawn.runs.disk import room_on_disk

WINDOWED = ("gpu_utilisation", "process_cpu_percent", "process_rss_mib", "system_cpu_percent")
"""What is also summed up over a sliding window, as `..._mean`."""


class Resources:
    """Samples, and tells the others: the file is written by a stream like any other."""

    def __init__(
        self,
        folder: Path,
        device: str,
        notify: Callable[[Record], None],
        *,
        every_seconds: float,
        window_samples: int,
        begins_at: tuple[int, int] = (0, 0),
    ) -> None:
        """Begin to sample.

        Args:
          folder: whose disk is looked at.
          device: that the run computes on.
          notify: is given the samples.
          every_seconds: how often.
          window_samples: how many samples means are taken over.
          begins_at: update and decisions that samples have until there is an update.
        """
        self._folder = folder
        self._notify = notify
        self._device = device
        self._gpu: Gpu | None = find_gpu(device)
        self._processes: dict[int, psutil.Process] = {}
        self._windows = {name: Window(window_samples) for name in WINDOWED}
        self._where = Whereabouts(begins_at)
        self._own = psutil.Process()
        self._is_missed = False  # whether the newest sample could not be had
        if self._gpu is None and device.startswith("cuda"):
            message = "the NVIDIA driver does not say what the GPU does, so resources.jsonl says nothing of it"
            notify(Event("gpu_not_watched", message, "warning"))
        self._measure()  # the first look at a processor's share only begins to measure it
        self._ticker = Ticker("resources", every_seconds, self._sample)

    def receive(self, record: Record) -> None:
        """Know how far the run is."""
        self._where.note(record)
        self._ticker.check()

    def state(self) -> StateTree:
        """How far the run is; what this process used says nothing about another."""
        return self._where.state()

    def restore(self, state: StateTree) -> None:
        """Know how far the run is."""
        self._where.restore(state)

    def close(self) -> None:
        """Stop, and raise what ended the sampling if nobody was told; safe to call twice."""
        self._ticker.close()
        if self._gpu is not None:
            self._gpu.close()
            self._gpu = None
        self._ticker.check()

    def _sample(self) -> None:
        try:
            metrics = self._measure()
        except (OSError, psutil.Error) as error:  # a disk that does not answer, no handle left: it may pass
            self._tell_of(error)
            return
        self._is_missed = False
        for name, window in self._windows.items():
            value = metrics.get(f"resource/{name}", nan)
            if not isnan(value):
                window.extend([value])
            if len(window):
                metrics[f"resource/{name}_mean"] = window.mean()
        self._notify(ResourceReport(*self._where.update_and_decisions(), metrics))

    def _tell_of(self, error: Exception) -> None:
        """Once, until a sample is had again."""
        if not self._is_missed:
            self._is_missed = True
            message = f"what the run uses could not be sampled ({error}); that is tried again and again"
            self._notify(Event("not_sampled", message, "warning"))

    def _measure(self) -> dict[str, float]:
        disk = room_on_disk(self._folder)
        memory, allowed = psutil.virtual_memory(), memory_limit()
        percent, available = memory.percent, memory.available
        if allowed is not None:  # a container is killed by its own limit, however much its host has left
            percent = max(percent, allowed.percent)
            available = min(available, max(0, allowed.bytes - allowed.used_bytes))
        return {
            **self._about_processes(),
            "resource/system_cpu_percent": psutil.cpu_percent(),
            "resource/system_memory_percent": percent,
            "resource/system_memory_available_gib": available / 2**30,
            "resource/disk_free_gib": disk.free_gib,
            "resource/disk_free_share": disk.free_share,
            **self._about_gpu(),
        }

    def _about_processes(self) -> dict[str, float]:
        """This process alone, and with the workers and actors that it started."""
        family = {self._own.pid: self._own}
        for pid in descendants(self._own.pid):
            with suppress(psutil.NoSuchProcess):  # it has ended already
                family[pid] = self._processes.get(pid) or psutil.Process(pid)  # one that is known can be compared
        self._processes = family
        percents, sizes = {}, {}
        for pid, process in family.items():
            try:
                with process.oneshot():
                    percents[pid], sizes[pid] = process.cpu_percent(), process.memory_info().rss / 2**20
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue  # it ended between two lines, or is not ours to look at any more
        own = self._own
        return {
            "resource/process_cpu_percent": sum(percents.values()),
            "resource/process_rss_mib": sizes[own.pid],
            "resource/children_rss_mib": sum(size for pid, size in sizes.items() if pid != own.pid),
            "resource/children": float(len(sizes) - 1),
            "resource/threads": float(own.num_threads()),
            "resource/open_files": float(own.num_fds()) if hasattr(own, "num_fds") else float("nan"),
        }

    def _about_gpu(self) -> dict[str, float]:
        if self._gpu is None:
            return {}
        import torch  # a GPU is only looked at where torch computes on it

        seen = self._gpu.sample()
        return {
            "resource/gpu_utilisation": seen.utilisation,
            "resource/gpu_memory_used_mib": seen.memory_used_mib,
            "resource/gpu_memory_total_mib": seen.memory_total_mib,
            "resource/gpu_temperature": seen.temperature,
            "resource/gpu_watts": seen.watts,
            "resource/torch_allocated_mib": torch.cuda.memory_allocated(self._device) / 2**20,
            "resource/torch_reserved_mib": torch.cuda.memory_reserved(self._device) / 2**20,
        }
