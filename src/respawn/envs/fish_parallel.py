"""A school as PettingZoo knows it: every fish is an agent, and all act at once.

from respawn.envs import fish_parallel

env = fish_parallel.parallel_env(fish=25, render_mode="rgb_array")
"""

from typing import TYPE_CHECKING, Any

from respawn.errors import ConfigError

if TYPE_CHECKING:
    from respawn.envs.fish_agents import FishParallelEnv


def parallel_env(*, render_mode: str | None = None, **settings: Any) -> "FishParallelEnv":
    """A `pettingzoo.ParallelEnv` over one school.

    Args:
      render_mode: 'rgb_array' for pictures, 'human' for a window.
      settings: fields of `FishConfig` by their names; see `fish_config`.
    """
    try:
        # Imported only now: PettingZoo is an extra, which nothing else here needs.
        from respawn.envs.fish_agents import FishParallelEnv
    except ModuleNotFoundError as error:
        if error.name != "pettingzoo":
            raise
        raise ConfigError("this needs PettingZoo, which is not installed; pip install 'respawn[pettingzoo]'") from None
    return FishParallelEnv(render_mode=render_mode, **settings)
