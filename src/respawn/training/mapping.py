"""A figure of where a policy's episodes end in a level of Mario."""

from dataclasses import dataclass
from pathlib import Path

from respawn.errors import ConfigError
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.levels import GREEDY, SAMPLED, level_seeds, play_level
from respawn.evaluation.out_files import prepare_place
from respawn.evaluation.plots.figure import check_figure_path
from respawn.evaluation.plots.level_map import Ending, draw_level_map, endings_of
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.file_names import default_file
from respawn.training.trained import Trained
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.rom import find_rom
from respawn.worlds.registry import make_world


@dataclass(frozen=True)
class MapOrder:
    """What to play for a map."""

    episodes: int = 100
    lanes: int = 100
    """that are played at a time, as in `LevelTrials`"""
    seed_base: int = 3_000_000
    """what a level's seeds are counted from; see `level_seeds`"""
    greedy: bool = True
    limit_steps: int = 10_000


@dataclass(frozen=True)
class MadeMap:
    """A map that was drawn."""

    figure: Path
    level: str
    endings: tuple[Ending, ...]
    unfinished: int
    """episodes that were cut by the limit, and so ended nowhere"""
    seeds: range
    """of all episodes; `respawn evaluate` judges the level on the same"""
    replaced: bool
    """whether an older map was at its place"""


def make_map(
    trained: Trained, config: RunConfig, order: MapOrder, out: Path | None = None, *, device_name: str = "cpu"
) -> MadeMap:
    """Play the episodes and draw the figure.

    Args:
      trained: the policy.
      config: its own, or one with another world; see `with_world`.
      order: which episodes.
      out: a .png; None: one in the run's folder, or here for what is shipped.
      device_name: where to compute.
    """
    world_config = _one_level(config)
    level = world_config.levels[0]
    out = out or default_file(trained, config, ["map"], ".png", greedy=order.greedy)
    check_figure_path(out)
    from respawn.worlds.mario.level_map import TOP, level_map

    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, config.threads)
    world = make_world(world_config, min(order.lanes, order.episodes), device=device, seed=0)
    try:
        model = trained.model(world.spec, device)
        prepare_place(out)
        seeds = level_seeds(level, order.seed_base, order.episodes)
        how = GREEDY if order.greedy else SAMPLED
        episodes = play_level(world, {how: model}, seeds, limit_steps=order.limit_steps, device=device)[how]
    finally:
        world.close()
    ended = [episode for episode in episodes if episode.end != UNFINISHED]
    if not ended:
        raise ConfigError(
            f"a map shows where episodes end, and none of {len(episodes)} did within {order.limit_steps:,} steps; "
            "give a higher --limit-steps"
        )
    endings = endings_of(ended)
    rom = find_rom(
        Path(world_config.rom) if world_config.rom else None, region=world_config.region, expect=world_config.region
    )
    picture = level_map(world_config.start_levels[0], rom)
    replaced = out.exists()
    draw_level_map(_title(trained, world_config, order), picture, TOP, endings, out)
    unfinished = len(episodes) - len(ended)
    return MadeMap(out, level, tuple(endings), unfinished=unfinished, seeds=seeds, replaced=replaced)


def _one_level(config: RunConfig) -> MarioConfig:
    if not isinstance(config.world, MarioConfig):
        raise ConfigError("only Mario's levels have maps, and this policy plays another world; name a run of Mario")
    if len(config.world.start_levels) != 1:
        raise ConfigError(
            f"a map is of one level, and this policy plays {', '.join(config.world.levels)}; choose one with --level"
        )
    return config.world


def _title(trained: Trained, world: MarioConfig, order: MapOrder) -> str:
    actions = "the likeliest actions" if order.greedy else "drawn actions"
    chance = f"start jitter {world.start_jitter}, sticky {world.sticky:g}"
    return f"World {world.levels[0]}: {trained.origin}, {actions}, {chance}"
