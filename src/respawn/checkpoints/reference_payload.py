"""What a checkpoint of the A3C system that this one replaces says of itself: a `.pt`, read without running its code.

Such a file is a pickle, and unpickling runs whatever it says. torch's loader for weights takes tensors and plain data
only and refuses the rest, so that a file from anywhere can be asked; where it refuses, there is nothing to be known.
"""

import pickle
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from respawn.checkpoints.reference_metadata import num_envs_in, rollout_steps_in, whole_number
from respawn.errors import CheckpointError


@dataclass(frozen=True)
class Payload:
    """What it says; 0 where it does not."""

    update: int = 0
    step: int = 0
    num_envs: int = 0
    rollout_steps: int = 0
    num_tensors: int = 0
    """of the model"""
    numbers: int = 0
    """in them"""
    holds: tuple[str, ...] = ()
    """the names of all that it holds"""


NOTHING_KNOWN = Payload()


def read_payload(path: Path) -> Payload:
    """Ask a `.pt`; raises CheckpointError where it is damaged, or holds more than tensors and plain data."""
    data = _loaded(path)
    if not isinstance(data, Mapping):
        raise CheckpointError(f"{path.name} should hold a dict, and holds a {type(data).__name__}")
    config = data.get("config")
    settings = config if isinstance(config, Mapping) else {}
    model = data.get("model")
    tensors = [value for value in model.values() if hasattr(value, "numel")] if isinstance(model, Mapping) else []
    return Payload(
        update=whole_number(data, "global_update") or 0,
        step=whole_number(data, "global_step") or 0,
        num_envs=num_envs_in(settings),
        rollout_steps=rollout_steps_in(settings),
        num_tensors=len(tensors),
        numbers=sum(tensor.numel() for tensor in tensors),
        holds=tuple(str(name) for name in data),
    )


def _loaded(path: Path) -> Any:
    # Imported only now: it takes seconds to load, and most metadata says all by itself.
    import torch

    # Whatever a damaged file makes the loader stumble over; none of it is ours.
    stumbles = (
        *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError),
        *(TypeError, ValueError, pickle.PickleError, struct.error),
    )
    try:
        with path.open("rb") as file:
            zipped = file.read(4) == b"PK\x03\x04"
        # Mapped, so that the tensors' numbers, which nobody asks for, are not read.
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipped)
    except stumbles as error:
        raise CheckpointError(_refusal(path, error)) from error


def _refusal(path: Path, error: BaseException) -> str:
    said = str(error)
    found = re.search(r"GLOBAL (\S+) (?:was not|whose module)", said)
    if found:
        return f"{path.name} holds a {found[1]}, which only its own code could read, and that is not run"
    if isinstance(error, FileNotFoundError):
        return f"{path.name} is missing"
    first = " ".join(said.split()).partition(". ")[0]
    return f"{path.name} cannot be read ({type(error).__name__}{': ' if first else ''}{first[:200]})"
