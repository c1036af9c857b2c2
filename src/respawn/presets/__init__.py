"""Named run configurations; no logic."""

import difflib

from respawn.errors import ConfigError
from respawn.presets import cartpole, memory
from respawn.training.config import RunConfig

PRESETS: dict[str, RunConfig] = {**cartpole.PRESETS, **memory.PRESETS}

DESCRIPTIONS: dict[str, str] = {
    "cartpole-ppo": "balance a pole with PPO: under a minute on a laptop",
    "cartpole-vtrace": "the same with V-trace: one small update after the other",
    "memory-gru": "see a cue, wait, name it: PPO with a GRU core",
    "memory-transformer": "the same with a transformer core",
}


def find_preset(name: str) -> RunConfig:
    """The preset called `name`; raises ConfigError naming those that come close."""
    if name in PRESETS:
        return PRESETS[name]
    close = difflib.get_close_matches(name, PRESETS, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise ConfigError(f"there is no preset '{name}'; {hint}The presets are: {', '.join(PRESETS)}")
