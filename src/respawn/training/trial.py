"""A run that is put together and taken apart again: whether it can be at all, and which weights would fit it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from torch import Tensor

from respawn.collection.config import ACTOR_SETTINGS, CollectionConfig
from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder
from respawn.training.assemble import assemble, fingerprint
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.worlds.mario.config import MarioConfig


@dataclass(frozen=True)
class Fitting:
    """What weights and a run must agree on."""

    world: str
    """its name, and the shapes of what is seen and done there"""
    actions: tuple[str, ...]
    """what each action is called, where the configuration says so"""
    activation: str
    tensors: Mapping[str, str]
    """kind and shape of each by name"""

    def misfit(self, other: "Fitting") -> str | None:
        """Why weights of this cannot go on in `other`, to follow on their name; None: they can."""
        if self.world != other.world:
            return f"of {self.world}, and not of {other.world}"
        if self.actions != other.actions:
            return f"for the actions {', '.join(self.actions)}, and not for {', '.join(other.actions)}"
        names = self.tensors.keys() | other.tensors.keys()
        differing = sorted(name for name in names if self.tensors.get(name) != other.tensors.get(name))
        if differing:
            first = differing[0]
            here, there = (fitting.tensors.get(first, "missing") for fitting in (self, other))
            return (
                f"of another model: {len(differing)} of {len(names)} tensors differ, the first is '{first}' ({here} "
                f"in the one, {there} in the other)"
            )
        if self.activation != other.activation:  # all else that makes another policy is seen in the shapes
            return f"of another model: model.activation is {self.activation}, and not {other.activation}"
        return None


def fitting_of(config: RunConfig, world: str, tensors: Mapping[str, Tensor]) -> Fitting:
    """What there is to agree on, of weights or of a run.

    Args:
      config: of the run that they belong to.
      world: see `assemble.fingerprint`.
      tensors: the weights.
    """
    actions = config.world.action_names if isinstance(config.world, MarioConfig) else ()
    shapes = {name: f"{str(one.dtype).removeprefix('torch.')} {list(one.shape)}" for name, one in tensors.items()}
    return Fitting(world, actions, config.model.activation, shapes)


def try_out(config: RunConfig) -> Fitting:
    """Put the run together, aside, without training; raises what beginning it would raise."""
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    prepare_torch(device, resolve_threads(config.threads))
    with TemporaryDirectory(prefix="respawn-trial-") as aside:
        run = assemble(without_actors(config), RunFolder(Path(aside)), ObserverHub({}), device)
        try:
            return fitting_of(config, fingerprint(run.world), run.weights.state())
        finally:
            run.close()


def without_actors(config: RunConfig) -> RunConfig:
    """The same, gathering in this process: starting others takes seconds and shows nothing more."""
    if config.collection.actors == 0:
        return config
    usual = CollectionConfig()
    settings = {name: getattr(usual, name) for name in ACTOR_SETTINGS}
    return replace(config, collection=replace(config.collection, actors=0, **settings))
