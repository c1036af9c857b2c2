"""What the GPU is doing, asked of NVIDIA's driver itself: no process is started, and no memory is taken on the GPU."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import pynvml


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One look at a GPU."""

    utilisation: float
    """percent of the time in which something was computed, over the driver's last interval"""
    memory_used_mib: float
    """by everybody"""
    memory_total_mib: float
    temperature: float
    """degrees Celsius"""
    watts: float


class Gpu:
    """The GPU that a run computes on."""

    def __init__(self, index: int) -> None:
        pynvml.nvmlInit()
        try:
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(_uuid(index))
        except BaseException:
            pynvml.nvmlShutdown()
            raise

    def sample(self) -> GpuSample:
        """Look; what this GPU cannot say is NaN."""
        return GpuSample(
            utilisation=_asked(lambda: float(pynvml.nvmlDeviceGetUtilizationRates(self._handle).gpu)),
            memory_used_mib=_asked(lambda: pynvml.nvmlDeviceGetMemoryInfo(self._handle).used / 2**20),
            memory_total_mib=_asked(lambda: pynvml.nvmlDeviceGetMemoryInfo(self._handle).total / 2**20),
            temperature=_asked(
                lambda: float(pynvml.nvmlDeviceGetTemperature(self._handle, pynvml.NVML_TEMPERATURE_GPU))
            ),
            watts=_asked(lambda: pynvml.nvmlDeviceGetPowerUsage(self._handle) / 1000),
        )

    def close(self) -> None:
        """Let go of the driver."""
        pynvml.nvmlShutdown()


def find_gpu(device: str) -> Gpu | None:
    """The GPU that 'cuda' or 'cuda:1' means; None for another device, and where the driver does not answer."""
    kind, _, index = device.partition(":")
    if kind != "cuda":
        return None
    try:
        return Gpu(int(index or 0))
    except pynvml.NVMLError:
        return None


def _uuid(index: int) -> str:
    """The name of the GPU that torch counts as `index`; the driver's own count may be another one."""
    named = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if index < len(named) and named[index].startswith(("GPU-", "MIG-")):
        return named[index]
    import torch  # a GPU is only looked at where torch computes on it

    return f"GPU-{torch.cuda.get_device_properties(index).uuid}"


def _asked(question: Callable[[], float]) -> float:
    try:
        return question()
    except pynvml.NVMLError:  # not supported, not permitted, or the GPU is lost, which the run will notice itself
        return float("nan")
