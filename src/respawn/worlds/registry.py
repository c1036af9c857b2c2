"""Which worlds there are: from a config to a world."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch

from respawn.contracts.records import Event
from respawn.contracts.world import World
from respawn.errors import ConfigError, WorldError
from respawn.worlds.fish.config import EPISODE_NUMBERS as FISH_NUMBERS
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.mario.config import EPISODE_NUMBERS, MarioConfig
from respawn.worlds.mario.rom import PAL_NOTE
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld
from respawn.worlds.seeds import lane_seeds

WorldConfig: TypeAlias = FishConfig | ForeignConfig | MarioConfig | RecallConfig


def caveats(config: WorldConfig) -> tuple[Event, ...]:
    """What whoever uses the world should know from the start."""
    if isinstance(config, MarioConfig) and config.region == "pal":
        return (Event("pal_timing", PAL_NOTE, "warning"),)
    return ()


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
    world = construct_world(config, num_lanes, device=device, diagnostics=diagnostics, notify=notify)
    world.reset(lane_seeds(seed, num_lanes))
    return world


def construct_world(
    config: WorldConfig,
    num_lanes: int,
    *,
    device: torch.device,
    diagnostics: Path | None = None,
    notify: Callable[[Event], None] = lambda event: None,
) -> World:
    """Make a world in which nothing has begun: it must be reset or restored first. See `make_world`."""
    if num_lanes < 1:
        raise ConfigError(f"a world needs at least one lane, got {num_lanes}")
    if isinstance(config, ForeignConfig):
        return ForeignWorld(config, num_lanes, device=device, diagnostics=diagnostics, notify=notify)
    if isinstance(config, MarioConfig):
        # Imported only now: other worlds need no engine, which may not be built.
        try:
            from respawn.worlds.mario.world import MarioWorld
        except ImportError as error:
            raise WorldError(f"the NES engine is not built here ({error}); run 'make setup'") from None
        return MarioWorld(config, num_lanes, device=device)
    if isinstance(config, FishConfig):
        return FishWorld(config, num_lanes, device=device)
    return RecallWorld(config, num_lanes, device=device)


def numeric_facts(config: WorldConfig) -> tuple[str, ...]:
    """The numbers that a world has to say of each episode, beside return and length."""
    if isinstance(config, FishConfig):
        return FISH_NUMBERS
    return EPISODE_NUMBERS if isinstance(config, MarioConfig) else ()


def describe(config: WorldConfig) -> str:
    """A name for people, such as 'CartPole-v1' or 'recall (4 cues, 8 steps)'."""
    if isinstance(config, ForeignConfig):
        return config.env_id
    if isinstance(config, MarioConfig):
        where = "the whole game" if config.whole_game else ", ".join(config.levels)
        return f"Super Mario Bros. ({where}, {config.observation})"
    if isinstance(config, FishConfig):
        return f"fish (schools of {config.fish}, {config.num_values} senses, {config.steering} steering)"
    return f"recall ({config.num_cues} cues, {config.delay_steps} steps)"
