"""Named run configurations; no logic.

What presets there are is known without loading any, because that would load torch.
"""

import difflib
import importlib
from typing import TYPE_CHECKING

from respawn.errors import ConfigError

if TYPE_CHECKING:
    from respawn.training.config import RunConfig

DESCRIPTIONS: dict[str, str] = {
    "mario": "clear World 1-1 from tiles with PPO: minutes on two cores",
    "mario-vtrace": "the same by the A3C family: V-trace with a GRU core",
    "mario-levels": "one policy for many levels, from tiles",
    "mario-curriculum": "the same, levels opening as they are cleared",
    "mario-pixels": "from the screen with a residual network: for a GPU",
    "mario-seed": "tiles, with the rewards of the system this one replaces",
    "fish": "a school escapes a predator, one policy for all: a minute",
    "fish-vtrace": "the same with V-trace",
    "fish-v40": "the reference's run: phases, penalty gate, hard starts",
    "fish-large": "schools of 1,000 that sense their neighbours",
    "cartpole-ppo": "balance a pole with PPO: under a minute on a laptop",
    "cartpole-vtrace": "the same with V-trace: one small update after the other",
    "memory-gru": "see a cue, wait, name it: PPO with a GRU core",
    "memory-transformer": "the same with a transformer core",
}

_FILES = ("mario", "fish", "cartpole", "memory")


def check_preset_name(name: str) -> None:
    """Raise ConfigError naming the presets there are, if `name` is none of them."""
    if name in DESCRIPTIONS:
        return
    close = difflib.get_close_matches(name, DESCRIPTIONS, n=1)
    hint = f"did you mean {close[0]}? The" if close else "the"
    raise ConfigError(f"there is no preset '{name}'; {hint} presets are: {', '.join(DESCRIPTIONS)}")


def find_preset(name: str) -> "RunConfig":
    """The preset called `name`; raises ConfigError naming those that come close."""
    check_preset_name(name)
    return all_presets()[name]


def all_presets() -> "dict[str, RunConfig]":
    """Every preset by its name."""
    presets: dict[str, RunConfig] = {}
    for file in _FILES:
        presets.update(importlib.import_module(f"respawn.presets.{file}").PRESETS)
    return presets
