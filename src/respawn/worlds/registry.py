"""Which worlds there are: from a config to a world."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch

from respawn.contracts.records import Event
from respawn.contracts.world import World
from respawn.errors import ConfigError
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld
from respawn.worlds.seeds import lane_seeds

WorldConfig: TypeAlias = ForeignConfig | RecallConfig


def make_world(
    config: WorldConfig,
    num_lanes: int,
    *,
    device: torch.device,
    seed: int,
    diagnostics: Path | None = None,
    notify: Callable[[Event], None] = lambda event: None,
) -> World:
    """Make a world and begin its first episodes, so that it can be observed, stepped, restored or reset at once.

    Args:
      config: Which world.
      num_lanes: How many lanes it has.
      device: Where its tensors are.
      seed: What its lanes' seeds are made from; see `lane_seeds`.
      diagnostics: A folder of its own for the files that help when something goes wrong.
      notify: Is told what happens once.
    """
    if num_lanes < 1:
        raise ConfigError(f"a world needs at least one lane, got {num_lanes}")
    world: World
    if isinstance(config, ForeignConfig):
        world = ForeignWorld(config, num_lanes, device=device, diagnostics=diagnostics, notify=notify)
    else:
        world = RecallWorld(config, num_lanes, device=device)
    world.reset(lane_seeds(seed, num_lanes))
    return world


def describe(config: WorldConfig) -> str:
    """A name for people, such as 'CartPole-v1' or 'recall (4 cues, 8 steps)'."""
    if isinstance(config, ForeignConfig):
        return config.env_id
    return f"recall ({config.num_cues} cues, {config.delay_steps} steps)"
