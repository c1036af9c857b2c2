"""Names of films and figures that nobody named."""

from collections.abc import Sequence
from pathlib import Path

from respawn.training.config import RunConfig
from respawn.training.trained import Trained
from respawn.worlds.mario.config import MarioConfig


def default_file(trained: Trained, config: RunConfig, words: Sequence[str], suffix: str, *, greedy: bool) -> Path:
    """A file in the run's folder, or here for what is shipped, whose name tells what is shown.

    Args:
      trained: the policy.
      config: what it is played with.
      words: what else the name says.
      suffix: with its dot.
      greedy: whether the likeliest actions are taken.
    """
    parts = [trained.checkpoint, *words]
    if isinstance(config.world, MarioConfig):
        if len(config.world.levels) == 1:
            parts.insert(1, config.world.levels[0])
        if config.world.sticky:
            parts.append(f"sticky{config.world.sticky:g}")
    name = "-".join(parts if greedy else [*parts, "sampled"]) + suffix
    return Path(f"{trained.name}-{name}") if trained.folder is None else trained.folder.videos / name
