"""Chance without a generator: random bits as a hash of what they are for, the same on every device."""

import torch
from torch import Tensor


def mix(numbers: Tensor) -> Tensor:
    """Scramble int64 numbers so that neighbours have nothing in common: SplitMix64 (Steele et al. 2014).

    Multiplication wraps round in int64 just as it does in the unsigned original.
    """
    numbers = numbers + as_int64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ _shift_right(numbers, 30)) * as_int64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ _shift_right(numbers, 27)) * as_int64(0x94D049BB133111EB)
    return numbers ^ _shift_right(numbers, 31)


def uniform(numbers: Tensor) -> Tensor:
    """Scrambled int64 numbers as float64 in [0, 1), with 53 random bits each."""
    return _shift_right(numbers, 11).double() * 2.0**-53


def as_int64(number: int) -> int:
    """The same 64 bits, read as a signed number."""
    return (number + 2**63) % 2**64 - 2**63


def int64_tensor(numbers: "list[int]", device: torch.device) -> Tensor:
    """Integers of up to 64 bits as a tensor."""
    return torch.tensor([as_int64(number) for number in numbers], dtype=torch.int64, device=device)


def _shift_right(numbers: Tensor, bits: int) -> Tensor:
    """Shift as if unsigned; torch's own shift of int64 drags the sign bit along."""
    return (numbers >> bits) & ((1 << (64 - bits)) - 1)
