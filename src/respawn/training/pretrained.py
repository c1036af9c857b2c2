"""Weights that come with the package: how they are written, found and read. They need no run folder."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from respawn.checkpoints.codec import tensors_sha256
from respawn.checkpoints.store import WEIGHTS, read_part
from respawn.errors import CheckpointError, ConfigError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.training.config import RunConfig, config_from_json, config_to_json
from respawn.training.judge import find_checkpoint
from respawn.training.recorded import load_config
from respawn.weights import shipped_names, weights_folder
from respawn.worlds.mario.config import MarioConfig

FORMAT = 1
"""Raised whenever an older program could misread newer weights."""
MOST_BYTES = 2_000_000
"""What is shipped travels with every copy of the package."""


@dataclass(frozen=True)
class Shipped:
    """Weights as they are shipped."""

    config: RunConfig
    world: str
    """what was trained in, and the shapes of what is seen and done there"""
    tensors: Mapping[str, Tensor]
    weights_sha256: str
    updates: int
    decisions: int
    trained_with: str
    """how, for whoever wants to do it again"""
    figures: Mapping[str, float]
    """of the evaluation that was made of these very weights"""


def read_shipped(name: str) -> Shipped:
    """The weights called `name`; raises ConfigError naming those there are, if it is none of them."""
    names = shipped_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise ConfigError(
            f"no weights called '{name}' are shipped; {hint}There are: {', '.join(names) or 'none'}. Name a run instead"
        )
    return read_weights(weights_folder() / f"{name}.json")


def read_weights(description: Traversable) -> Shipped:
    """The weights that a NAME.json describes; NAME.safetensors lies beside it."""
    file = str(description)
    try:
        said: dict[str, Any] = json.loads(description.read_text(encoding="utf-8"))
        if said["format"] != FORMAT:
            raise CheckpointError(
                f"{file} is of format {said['format']} and this program reads format {FORMAT}; "
                f"use respawn {said['respawn_version']}"
            )
        shipped = Shipped(
            config=config_from_json(said["config"]),
            world=said["world"],
            tensors=load_tensors(Path(file).with_suffix(".safetensors").read_bytes()),
            weights_sha256=said["weights_sha256"],
            updates=said["updates"],
            decisions=said["decisions"],
            trained_with=said["trained_with"],
            figures=said["figures"],
        )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError, ConfigError) as error:
        raise CheckpointError(f"the weights of {file} cannot be read ({error}); install respawn anew") from error
    found = tensors_sha256(dict(shipped.tensors))
    if found != shipped.weights_sha256:
        raise CheckpointError(
            f"the weights beside {file} should have SHA-256 {shipped.weights_sha256}, and have {found}; "
            "install respawn anew"
        )
    return shipped


def _for_anyone(config: RunConfig) -> RunConfig:
    """The configuration without what is of this machine only: where the game's file lies, and what computes."""
    world = replace(config.world, rom="") if isinstance(config.world, MarioConfig) else config.world
    return replace(config, world=world, device="auto")


def export(folder: RunFolder, which: str, path: Path, *, trained_with: str | None = None) -> Path:
    """Write a checkpoint's weights as they are shipped: `path` and, beside it, a .safetensors.

    Args:
      folder: the run.
      which: 'newest', 'best', or the name of a checkpoint.
      path: NAME.json.
      trained_with: how, for whoever wants to do it again; None: the run's preset and seed.

    Returns:
      Where the tensors are.
    """
    from respawn import __version__

    if path.suffix != ".json":
        raise ConfigError(f"weights are described in a .json, and {path.name!r} came; name another file")
    config = load_config(folder)
    found = find_checkpoint(folder, config, which)
    tensors: dict[str, Tensor] = read_part(found.path, found.manifest, WEIGHTS)
    data = save_tensors({name: tensor.contiguous() for name, tensor in tensors.items()})
    if len(data) > MOST_BYTES:
        raise ConfigError(
            f"weights of at most {MOST_BYTES:,} bytes are shipped, and those of {folder.name} have {len(data):,}; "
            "train a smaller model"
        )
    meta = read_meta(folder)
    said = {
        "format": FORMAT,
        "respawn_version": __version__,
        "trained_with": trained_with or f"respawn train {meta.preset} --seed {config.seed}",
        "world": found.manifest.world,
        "updates": found.manifest.updates,
        "decisions": found.manifest.decisions,
        "weights_sha256": tensors_sha256(tensors),
        "figures": {name: value for name, value in found.manifest.metrics.items() if not name.startswith("time/")},
        "config": config_to_json(_for_anyone(config)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".safetensors")
    beside.write_bytes(data)
    path.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    return beside
