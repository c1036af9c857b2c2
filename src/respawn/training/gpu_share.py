"""How busy the GPU is while something is measured, asked of its driver many times over."""

import math
from statistics import fmean
from threading import Event, Thread
from types import TracebackType

from respawn.observers.gpu import Gpu, find_gpu

INTERVAL_SECONDS = 0.1


class GpuShare:
    """Samples the GPU's utilisation in a thread of its own, for as long as the context lasts.

    A look right after learning, which is what is nearest at hand, would see the GPU when it is busiest.

    Args:
      device: that is computed on, such as 'cuda' or 'cuda:1'; others have nothing to sample.
    """

    def __init__(self, device: str, interval_seconds: float = INTERVAL_SECONDS) -> None:
        self._gpu: Gpu | None = find_gpu(device)
        self._interval_seconds = interval_seconds
        self._over = Event()
        self._samples: list[float] = []
        self._thread = Thread(target=self._watch, name="gpu share", daemon=True)

    @property
    def mean(self) -> float | None:
        """Percent of the time, over all samples; None where there is no GPU, or it does not say."""
        return fmean(self._samples) if self._samples else None

    def __enter__(self) -> "GpuShare":
        """Begin to look."""
        if self._gpu is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look no more."""
        if self._gpu is not None:
            self._over.set()
            self._thread.join()
            self._gpu.close()

    def _watch(self) -> None:
        assert self._gpu is not None
        while not self._over.wait(self._interval_seconds):
            seen = self._gpu.sample().utilisation
            if not math.isnan(seen):
                self._samples.append(seen)
