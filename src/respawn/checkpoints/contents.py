"""What is in a checkpoint, part by part: files, tensors, and whether their numbers are finite.

Tensors are looked at one after the other, straight from the file: a checkpoint may be larger than memory.
"""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from respawn.checkpoints.manifest import Manifest
from respawn.errors import CheckpointAccessError, CheckpointError

NUMBERS_AT_A_TIME = 1 << 22
"""Numbers of a tensor that are asked at a time whether they are finite."""

_KINDS = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
"""What safetensors calls the kinds of numbers, and what torch does."""


@dataclass(frozen=True)
class TensorFacts:
    """One tensor."""

    name: str
    kind: str
    """of its numbers, as torch calls it"""
    shape: tuple[int, ...]
    not_finite: int
    """how many of its numbers are nan or infinite"""

    @property
    def numbers(self) -> int:
        """How many there are."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Part:
    """One part of a checkpoint."""

    name: str
    files: dict[str, int]
    """bytes of each by name"""
    tensors: tuple[TensorFacts, ...] = ()
    not_finite_values: tuple[str, ...] = ()
    """where, outside of tensors, a number is nan or infinite, and which"""
    problem: str = ""
    """why it cannot be read, if it cannot"""

    @property
    def size_bytes(self) -> int:
        """Of all its files."""
        return sum(self.files.values())

    @property
    def numbers(self) -> int:
        """How many its tensors hold."""
        return sum(tensor.numbers for tensor in self.tensors)

    @property
    def not_finite(self) -> int:
        """How many of them are nan or infinite."""
        return sum(tensor.not_finite for tensor in self.tensors)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of numbers in it, in order of their first tensor."""
        return tuple(dict.fromkeys(tensor.kind for tensor in self.tensors))


def part_names(manifest: Manifest) -> list[str]:
    """The parts of a checkpoint, sorted."""
    return sorted({file.partition(".")[0] for file in manifest.files})


def look_into(path: Path, manifest: Manifest, name: str, tell: Callable[[float], None] = lambda share: None) -> Part:
    """A part with all its tensors; what is wrong with it, if it cannot be read, is a fact like the others.

    Args:
      path: of the checkpoint.
      manifest: its own.
      name: of the part.
      tell: is told which share of the part has been seen.
    """
    files = {file: _size(path / file) for file in sorted(manifest.files) if file.partition(".")[0] == name}
    try:
        structure = read_structure(path, manifest, name)
        tensors = tuple(_tensors(path, manifest, name, tell))
        _check_references(structure, {tensor.name for tensor in tensors})
    except CheckpointError as error:
        return Part(name, files, problem=str(error))
    return Part(name, files, tensors, tuple(_not_finite(structure, "")))


def check_readable(path: Path, manifest: Manifest, name: str) -> None:
    """Raise CheckpointError unless a part says a state, all of whose tensors are there."""
    structure = read_structure(path, manifest, name)
    with _tensor_file(path, manifest, name) as file:
        _check_references(structure, set() if file is None else set(file.keys()))


def read_structure(path: Path, manifest: Manifest, name: str) -> dict[str, Any]:
    """What a part says outside of its tensors, which stand in it as {"$tensor": …} or {"$array": …}."""
    file = f"{name}.json"
    if file not in manifest.files:
        raise CheckpointError(f"there is no part '{name}'; there are: {', '.join(part_names(manifest))}")
    try:
        structure = json.loads((path / file).read_bytes())
    except FileNotFoundError:
        raise CheckpointError(f"{file} is missing") from None
    except PermissionError as error:
        raise CheckpointAccessError(f"{file} may not be read ({error}); see to its permissions") from error
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{file} cannot be read ({error})") from error
    if not isinstance(structure, dict):
        raise CheckpointError(f"{file} should hold an object, and holds a {type(structure).__name__}")
    return structure


def shape_of(path: Path, manifest: Manifest, name: str, tensor: str) -> tuple[int, ...]:
    """The shape of one tensor of a part, which is not read for that."""
    with _tensor_file(path, manifest, name) as file:
        if file is None or tensor not in file.keys():  # noqa: SIM118 - it is no mapping
            raise CheckpointError(f"{name}.safetensors holds no tensor '{tensor}'")
        return tuple(file.get_slice(tensor).get_shape())


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


@contextmanager
def _tensor_file(path: Path, manifest: Manifest, name: str) -> Iterator[Any]:
    """A part's tensors by name, not yet read; None where it has none."""
    file = f"{name}.safetensors"
    if file not in manifest.files:
        yield None
        return
    try:
        with safe_open(path / file, framework="pt") as tensors:
            yield tensors
    except FileNotFoundError:
        raise CheckpointError(f"{file} is missing") from None
    except PermissionError as error:
        raise CheckpointAccessError(f"{file} may not be read ({error}); see to its permissions") from error
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{file} cannot be read ({error})") from error


def _tensors(path: Path, manifest: Manifest, name: str, tell: Callable[[float], None]) -> Iterator[TensorFacts]:
    with _tensor_file(path, manifest, name) as file:
        if file is None:
            return
        slices = {tensor: file.get_slice(tensor) for tensor in file.keys()}  # noqa: SIM118 - it is no mapping
        shapes = {tensor: tuple(piece.get_shape()) for tensor, piece in slices.items()}
        whole, seen = sum(map(math.prod, shapes.values())), 0
        for tensor, piece in slices.items():
            tensor_kind = str(piece.get_dtype())
            odd = _count_not_finite(file.get_tensor(tensor)) if "F" in tensor_kind else 0
            yield TensorFacts(tensor, _KINDS.get(tensor_kind, tensor_kind.lower()), shapes[tensor], odd)
            seen += math.prod(shapes[tensor])
            tell(seen / max(whole, 1))


def _count_not_finite(tensor: Tensor) -> int:
    pieces = torch.split(tensor.reshape(-1), NUMBERS_AT_A_TIME)
    return sum(int((~torch.isfinite(piece)).sum()) for piece in pieces)


def _check_references(structure: Any, tensors: set[str]) -> None:
    for reference in _references(structure):
        if reference not in tensors:
            raise CheckpointError(f"it speaks of a tensor '{reference}', which its file of tensors does not hold")


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("$tensor", "$array"):
                yield str(item)
            else:
                yield from _references(item)


def _not_finite(value: Any, path: str) -> Iterator[str]:
    """Where plain numbers are not finite; JSON has no word for such, so each stands there as {"$float": "nan"}."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _not_finite(item, f"{path}/{place}")
    elif isinstance(value, dict):
        if "$float" in value:
            yield f"{path.removeprefix('/')} = {value['$float']}"
            return
        for key, item in value.items():
            yield from _not_finite(item, f"{path}/{key}")
