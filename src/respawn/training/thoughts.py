"""One episode of a trained policy, with all that it thought in it."""

from dataclasses import dataclass

from respawn.errors import ConfigError
from respawn.evaluation.thoughts.notes import notes_for
from respawn.evaluation.thoughts.watching import Watched, watch
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.playback import playback_dice
from respawn.training.school_stage import SchoolStage, tanks_to_watch
from respawn.training.trained import Trained
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import school_seeds
from respawn.worlds.registry import make_world


@dataclass(frozen=True)
class ThoughtsOrder:
    """Which episode to play."""

    seed: int = 3_000_000
    greedy: bool = True
    limit_steps: int = 10_000
    fish: int = 96
    """fish: in the school"""
    follow: int = 0
    """fish: the one of which notes are taken"""


def watch_thoughts(trained: Trained, config: RunConfig, order: ThoughtsOrder, *, device_name: str = "cpu") -> Watched:
    """Play the episode that `respawn play` shows from the same seed.

    Args:
      trained: the policy.
      config: its own, or one with another world; see `with_world`.
      order: which episode.
      device_name: where to compute.
    """
    if isinstance(config.world, FishConfig):
        return _school(trained, config, config.world, order, device_name)
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, config.threads)
    world = make_world(config.world, 1, device=device, seed=0)
    try:
        return watch(
            world,
            trained.model(world.spec, device),
            [order.seed],
            playback_dice(order.seed, greedy=order.greedy, device=device),
            limit_steps=order.limit_steps,
            discount=config.learner.discount,
            notes=notes_for(config.world, 0),
        )
    finally:
        world.close()


def _school(trained: Trained, config: RunConfig, world: FishConfig, order: ThoughtsOrder, device_name: str) -> Watched:
    if order.follow >= order.fish:
        raise ConfigError(
            f"--follow names one of the school's fish by its number, 0 to {order.fish - 1}, not {order.follow}; "
            "name one of those, or give a higher --fish"
        )
    tanks = tanks_to_watch(config, order.fish, order.limit_steps)
    stage = SchoolStage(trained, tanks, 1, knobs=None, device_name=device_name)
    try:
        return watch(
            stage.world,
            stage.model,
            school_seeds([order.seed], order.fish),
            stage.dice(order.seed, greedy=order.greedy),
            limit_steps=order.limit_steps,
            discount=config.learner.discount,
            notes=notes_for(world, order.follow),
        )
    finally:
        stage.world.close()
