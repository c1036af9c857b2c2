"""Which device a run computes on, and how many threads."""

import os

import torch

from respawn.errors import ConfigError
from respawn.processes.limits import usable_cores


def resolve_device(name: str, *, wants_gpu: bool) -> torch.device:
    """The device that `name` means on this machine; raises ConfigError where it is not to be had."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if wants_gpu:
            raise ConfigError(
                "this run is meant for a GPU and there is none here; on a CPU it would take very long: "
                "add --device cpu to start it all the same"
            )
        return torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"--device must be auto, cpu, cuda or cuda:N, not '{name}'") from None
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device must be auto, cpu, cuda or cuda:N, not '{name}'")
    if device.type == "cuda" and (not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()):
        raise ConfigError(f"--device {name}: there is no such GPU here ({torch.cuda.device_count()} found); use cpu")
    return device


def resolve_threads(threads: int) -> int:
    """How many threads a setting means on this machine; raises ConfigError where they would only hinder each other."""
    cores = usable_cores()
    if threads > 4 * cores:
        raise ConfigError(
            f"--threads must be at most {4 * cores} here, four for each usable core, not {threads}; 0: one per core"
        )
    return threads or cores


def prepare_torch(device: torch.device, threads: int) -> None:
    """Make torch compute the same numbers every time: a fixed number of threads, and no kernels chosen by timing."""
    torch.set_num_threads(threads)
    if device.type == "cuda":
        # cuBLAS reads this when it first starts; without it, matrix products may differ from one run to the next.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True, warn_only=True)
        # All memory is written before it is read here; filling it first would only take time.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
