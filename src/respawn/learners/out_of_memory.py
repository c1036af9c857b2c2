"""Whether an error says that memory did not suffice, however it was said."""

import torch

_ON_A_GPU = (
    "CUDA out of memory",
    "CUDA error: out of memory",
    "CUDA driver error: out of memory",
    "Triton Error [CUDA]: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)
_ON_THE_HOST = ("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory")


def gpu_is_full(error: BaseException) -> bool:
    """Whether a GPU's memory did not suffice.

    Torch's allocator raises `torch.OutOfMemoryError`; libraries and the driver itself raise a plain RuntimeError. A
    recording of CUDA graphs that ran out of memory ends with an error of its own, and has the first as its context.
    """
    link: BaseException | None = error if isinstance(error, RuntimeError) else None
    while link is not None:
        if isinstance(link, torch.OutOfMemoryError) or _says(link, _ON_A_GPU):
            return True
        link = link.__cause__ or link.__context__
    return False


def host_is_full(error: BaseException) -> bool:
    """Whether the machine's own memory did not suffice."""
    return isinstance(error, MemoryError) or _says(error, _ON_THE_HOST)


def in_short(error: BaseException) -> str:
    """What such an error says, without the place in torch's code before it and the statistics after it."""
    first_line = (str(error).strip() or type(error).__name__).partition("\n")[0]
    _, name, after = first_line.rpartition("DefaultCPUAllocator")
    return f"{name}{after}" if name else after.partition(". GPU ")[0]


def _says(error: BaseException, words: tuple[str, ...]) -> bool:
    return isinstance(error, RuntimeError) and any(word in str(error) for word in words)
