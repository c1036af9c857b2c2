"""Errors of CUDA's, after which every later call in a process may fail as well, whatever it is for."""

import torch

from respawn.errors import ConfigError, StudyError
from respawn.learners.out_of_memory import gpu_is_full, in_short
from respawn.training.config import RunConfig
from respawn.training.device import resolve_device

_SAYS = ("CUDA error", "CUDA driver error", "CUBLAS_STATUS_", "cuDNN error", "CUDNN_STATUS_")
_OWN_KIND: tuple[type[BaseException], ...] = (torch.AcceleratorError,) if hasattr(torch, "AcceleratorError") else ()
"""Newer versions of torch have one."""


class CudaFailedError(StudyError):
    """CUDA failed in this process, which can train no further trial."""


def cuda_failure(error: BaseException) -> BaseException | None:
    """The error of CUDA's that this one is or came of; None: it is something else, or only that memory is full."""
    link: BaseException | None = error
    while link is not None:
        if _is_of_cuda(link) and not gpu_is_full(link):
            return link
        link = link.__cause__ or link.__context__
    return None


def _is_of_cuda(error: BaseException) -> bool:
    is_told = isinstance(error, RuntimeError) and any(word in str(error) for word in _SAYS)
    return is_told or isinstance(error, _OWN_KIND)


def check_cuda(config: RunConfig) -> None:
    """Raise StudyError where CUDA fails in a process that is just beginning: no trial could be trained in any.

    A GPU that is there no more is such a case: whoever began the sweep saw it.
    """
    try:
        device = resolve_device(config.device, wants_gpu=config.wants_gpu)
        if device.type == "cuda":
            torch.zeros(1, device=device).add_(1).item()
    except (ConfigError, RuntimeError) as error:
        if gpu_is_full(error):
            return  # others use it just now; a trial can wait for that, or step down the memory ladder
        raise StudyError(
            f"the GPU fails even in a process that has just begun ({in_short(error)}); see with 'nvidia-smi' what it "
            "does: when it can be used, the same command goes on with every trial where it was"
        ) from error
