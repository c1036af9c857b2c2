"""Respawn: a training laboratory for game agents that survives anything.

From a notebook, six names are enough (the other two: `RunConfig` to write a preset of your own, `make_world`):

    from pathlib import Path
    import respawn

    config = respawn.find_preset("cartpole-ppo")
    folder, outcome = respawn.begin(config, preset="cartpole-ppo", runs_dir=Path("runs"))
    respawn.take_up(folder, updates=140)  # after a kill, say: goes on to the end of the plan
    respawn.judge(folder, config.evaluation).metrics["evaluation/return_mean"]

Gymnasium knows our environments once respawn is imported: `gymnasium.make("respawn/Mario-v0", level="1-1")`.
"""

import importlib
from typing import Any

from respawn.registration import register_with_gymnasium

__version__ = "0.1.0"

_PUBLIC = {
    "RunConfig": "respawn.training.config",
    "find_preset": "respawn.presets",
    "begin": "respawn.training.launch",
    "take_up": "respawn.training.launch",
    "judge": "respawn.training.judge",
    "make_world": "respawn.worlds.registry",
}

__all__ = ["RunConfig", "__version__", "begin", "find_preset", "judge", "make_world", "take_up"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: torch takes seconds to load, and `respawn --help` needs none."""
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"respawn has no '{name}'; its public names are {', '.join(_PUBLIC)}")


register_with_gymnasium()
