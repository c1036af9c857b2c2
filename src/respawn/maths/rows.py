"""What every formula over rows asks of its arguments: one shape, and the kinds that were promised."""

import torch
from torch import Tensor


def check_rows(*, numbers: tuple[Tensor, ...], flags: tuple[Tensor, ...] = ()) -> None:
    """Assert that all tensors have the shape of the first, that numbers are float32 and flags are bool."""
    shape = numbers[0].shape
    for number in numbers:
        assert number.shape == shape, f"expected numbers of shape {tuple(shape)}, got {tuple(number.shape)}"
        assert number.dtype == torch.float32, f"expected float32, got {number.dtype}"
    for flag in flags:
        assert flag.shape == shape, f"expected flags of shape {tuple(shape)}, got {tuple(flag.shape)}"
        assert flag.dtype == torch.bool, f"expected bool, got {flag.dtype}"
