"""State trees as bytes, for the way between processes of one run; checkpoints are written another way.

`multiprocessing` would hand tensors over as files of its own, which live and die with other processes than these.
"""

import pickle
from typing import Any, NamedTuple

import torch
from torch import Tensor


class _PackedTensor(NamedTuple):
    dtype: torch.dtype
    shape: tuple[int, ...]
    content: bytes


def pack(value: Any) -> bytes:
    """A tree of tensors and plain values as bytes; what it is made of may change afterwards."""
    return pickle.dumps(_without_tensors(value), protocol=5)


def unpack(parcel: bytes) -> Any:
    """The tree again, in memory of its own."""
    return _with_tensors(pickle.loads(parcel))


def _without_tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        flat = value.detach().cpu().contiguous().reshape(-1)
        return _PackedTensor(value.dtype, tuple(value.shape), flat.view(torch.uint8).numpy().tobytes())
    if isinstance(value, dict):
        return {name: _without_tensors(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_tensors(item) for item in value]
    return value


def _with_tensors(value: Any) -> Any:
    if isinstance(value, _PackedTensor):
        if not value.content:
            return torch.zeros(value.shape, dtype=value.dtype)
        flat = torch.frombuffer(bytearray(value.content), dtype=value.dtype)
        # Cloned into memory aligned as torch's always is: matrix products may round differently elsewhere.
        return flat.clone().reshape(value.shape)
    if isinstance(value, dict):
        return {name: _with_tensors(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_tensors(item) for item in value]
    return value
