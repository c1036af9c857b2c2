"""Independent streams of chance from one seed, each found again by its name."""

import hashlib
import json

import torch
from torch import Generator, Tensor


def derive_seed(seed: int, *names: str | int) -> int:
    """A seed of 63 bits for whatever `names` say; the same on every machine, and different for different names."""
    digest = hashlib.sha256(json.dumps([seed, *names]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def make_generator(seed: int, *names: str | int, device: torch.device | str = "cpu") -> Generator:
    """A generator of its own for whatever `names` say."""
    generator = Generator(device=device)
    generator.manual_seed(derive_seed(seed, *names))
    return generator


def generator_state(generator: Generator) -> Tensor:
    """All that `generator` knows, as bytes on the CPU; later draws do not change the answer."""
    return generator.get_state().clone()


def restore_generator(generator: Generator, state: Tensor) -> None:
    """Let `generator` go on from where `generator_state` was asked."""
    generator.set_state(state.cpu())
