"""State trees ↔ files, without pickle: a JSON file for the structure, a safetensors file for the tensors.

A leaf that JSON cannot say stands in the structure as a one-entry dict: {"$tensor": "path"} and {"$array": "path"} name
an entry of the safetensors file, {"$float": "nan"} is a number that JSON lacks.
"""

import hashlib
import json
import math
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from respawn.contracts.saveable import StateTree
from respawn.errors import CheckpointError


def encode(state: StateTree) -> dict[str, bytes]:
    """The files that say `state`, by suffix: '.json' always, '.safetensors' where there are tensors."""
    tensors: dict[str, Tensor] = {}
    structure = _flatten(state, "", tensors)
    files = {".json": json.dumps(structure, sort_keys=True, allow_nan=False).encode()}
    if tensors:
        files[".safetensors"] = save_tensors(tensors)
    return files


def decode(files: dict[str, bytes]) -> StateTree:
    """The state that `encode` was given."""
    try:
        tensors = load_tensors(files[".safetensors"]) if ".safetensors" in files else {}
        state = _unflatten(json.loads(files[".json"]), tensors)
    except (ValueError, KeyError, SafetensorError) as error:
        raise CheckpointError(f"a checkpoint part cannot be read: {error}") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"a checkpoint part must hold a dict, not {type(state).__name__}")
    return state


def tensors_sha256(tensors: dict[str, Tensor]) -> str:
    """A fingerprint of named tensors: names, kinds, shapes and bytes, whatever file they came from."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name}|{tensor.dtype}|{list(tensor.shape)}|".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _flatten(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return {"$tensor": _keep(value.detach().to("cpu", copy=True), path, tensors)}
    if isinstance(value, np.ndarray):
        return {"$array": _keep(_from_numpy(value, path), path, tensors)}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key.startswith("$"):
                raise TypeError(f"a state's keys must be strings without a leading '$'; at '{path}' there is {key!r}")
        # In the order of the file, so that where paths are alike the same tensor has the same name each time.
        return {key: _flatten(item, f"{path}/{key}" if path else key, tensors) for key, item in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_flatten(item, f"{path}/{i}", tensors) for i, item in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a state may hold tensors, arrays and plain values; at '{path}' there is a {type(value).__name__}")


def _keep(tensor: Tensor, path: str, tensors: dict[str, Tensor]) -> str:
    """Put a tensor under a name of its own; the path, unless a key with a slash in it has already led there."""
    while path in tensors or path == "__metadata__":  # a word that safetensors keeps for itself
        path += "'"
    tensors[path] = tensor.contiguous()
    return path


def _from_numpy(array: "np.ndarray[Any, Any]", path: str) -> Tensor:
    try:
        return torch.from_numpy(np.array(array, order="C"))  # a copy: it may be read-only, or be shared
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"a state may hold arrays of numbers that torch has too; at '{path}' there is one of {array.dtype}"
        ) from error


def _unflatten(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_unflatten(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    if "$tensor" in value:
        # Cloned into memory aligned as torch's always is: matrix products may round differently elsewhere.
        return tensors[value["$tensor"]].clone()
    if "$array" in value:
        return tensors[value["$array"]].clone().numpy()
    if "$float" in value:
        return float(value["$float"])
    return {key: _unflatten(item, tensors) for key, item in value.items()}
