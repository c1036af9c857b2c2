"""Policies that are trained already, wherever they come from: a run's checkpoint, or weights that are shipped."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from respawn.checkpoints.store import WEIGHTS, Identity, check_identity, read_part
from respawn.contracts.world import WorldSpec
from respawn.errors import CheckpointError, ConfigError, RunFolderError
from respawn.learners.trainee import ModelWeights
from respawn.models.actor_critic import ActorCritic
from respawn.runs.layout import RunFolder, find
from respawn.training.assemble import fingerprint
from respawn.training.collecting import fresh_model
from respawn.training.config import RunConfig, config_sha256
from respawn.training.judge import find_checkpoint
from respawn.training.pretrained import read_shipped
from respawn.training.recorded import load_config
from respawn.weights import is_shipped, shipped_names
from respawn.worlds.mario.config import MarioConfig

SHIPPED = "shipped"


@dataclass(frozen=True)
class Trained:
    """A policy at rest: what it was made for, and its weights."""

    name: str
    """of the run, or of the shipped weights"""
    checkpoint: str
    """its name, or 'shipped'"""
    config: RunConfig
    world: str
    """what was trained in, and the shapes of what is seen and done there"""
    tensors: Mapping[str, Tensor]
    weights_sha256: str
    updates: int
    decisions: int
    folder: RunFolder | None = None
    """None for shipped weights"""
    passed_over: tuple[str, ...] = ()
    """newer checkpoints that are damaged, and how"""

    @property
    def origin(self) -> str:
        """Where it comes from, for people."""
        if self.folder is None:
            return f"'{self.name}', shipped with respawn"
        return f"run {self.name}, checkpoint {self.checkpoint}"

    def model(self, spec: WorldSpec, device: torch.device) -> ActorCritic:
        """The policy, ready to act in a world; raises CheckpointError if that is another than it was trained in."""
        if fingerprint(spec) != self.world:
            raise CheckpointError(
                f"{self.origin} was trained in {self.world}, and this world is {fingerprint(spec)}; "
                "play it in a world with the same observations and actions"
            )
        model = fresh_model(self.config, spec, device)
        ModelWeights(model).restore(dict(self.tensors))
        return model.eval()


def find_trained(runs_dir: Path, name: str, which: str = "newest") -> Trained:
    """The policy of a run, or one that is shipped; a run of the user's own comes first.

    Args:
      runs_dir: holds the runs.
      name: of a run, of its folder, or of shipped weights.
      which: 'newest', 'best', or the name of a checkpoint.
    """
    if is_shipped(runs_dir, name):
        return load_shipped(name, which)
    try:
        folder = find(runs_dir, name)
    except RunFolderError as error:
        if shipped_names():
            error.add_note(f"(These come with respawn: {', '.join(shipped_names())}.)")
        raise
    return load_run(folder, which)


def load_run(folder: RunFolder, which: str = "newest") -> Trained:
    """The policy that a checkpoint of a run holds."""
    config = load_config(folder)
    found = find_checkpoint(folder, config, which)
    check_identity(found, Identity(config_sha256(config), found.manifest.world))
    return Trained(
        name=folder.name,
        checkpoint=found.path.name,
        config=config,
        world=found.manifest.world,
        tensors=read_part(found.path, found.manifest, WEIGHTS),
        weights_sha256=found.manifest.weights_sha256,
        updates=found.manifest.updates,
        decisions=found.manifest.decisions,
        folder=folder,
        passed_over=found.passed_over,
    )


def load_shipped(name: str, which: str = "newest") -> Trained:
    """A policy that comes with the package, of which there is one checkpoint only."""
    if which != "newest":
        raise ConfigError(
            f"'{name}' means the weights that come with respawn, and they have no checkpoint '{which}'; leave out "
            "--checkpoint, or name a run"
        )
    shipped = read_shipped(name)
    return Trained(
        name=name,
        checkpoint=SHIPPED,
        config=shipped.config,
        world=shipped.world,
        tensors=shipped.tensors,
        weights_sha256=shipped.weights_sha256,
        updates=shipped.updates,
        decisions=shipped.decisions,
    )


def with_world(
    config: RunConfig,
    *,
    level: str | None = None,
    sticky: float | None = None,
    start_jitter: int | None = None,
    rom: Path | None = None,
) -> RunConfig:
    """The same configuration with another beginning or another file, where one is given; only Mario has them.

    Raises:
      ConfigError: the world has no such thing.
    """
    given = {"--level": level, "--sticky": sticky, "--start-jitter": start_jitter, "--rom": rom}
    options = [option for option, value in given.items() if value is not None]
    if not options:
        return config
    world = config.world
    if not isinstance(world, MarioConfig):
        raise ConfigError(
            f"{' and '.join(options)} can be given for the Mario world only, and this policy plays another; leave out"
        )
    changed = replace(
        world,
        levels=world.levels if level is None else (level,),
        sticky=world.sticky if sticky is None else sticky,
        start_jitter=world.start_jitter if start_jitter is None else start_jitter,
        rom=world.rom if rom is None else str(rom),
    )
    return replace(config, world=changed)
