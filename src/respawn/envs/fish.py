"""Fish as Gymnasium knows them: `respawn/Fish-v0`, one alone in its tank, or whole schools at once.

    import gymnasium, respawn

    env = gymnasium.make("respawn/Fish-v0", render_mode="rgb_array")
    envs = gymnasium.make_vec("respawn/Fish-v0", num_envs=8, fish=25)  # 200 lanes

Arguments are the fields of `FishConfig` by their names. A school whose fish are agents: `respawn.envs.fish_parallel`.
"""

from typing import Any

import numpy as np

from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import Frame
from respawn.envs.fish_infos import school_columns, school_infos
from respawn.envs.fish_settings import fish_config
from respawn.envs.fish_show import STEPS_PER_SECOND, TankShow, render_modes
from respawn.errors import ConfigError
from respawn.registration import FISH
from respawn.worlds.episodes import Array
from respawn.worlds.fish.aftermath import FishWorldWithAftermath
from respawn.worlds.fish.starts import describe_pre_roll
from respawn.worlds.fish.world import EVERYONE_CAUGHT
from respawn.worlds.single_env import WorldEnv
from respawn.worlds.vector_env import WorldVectorEnv

CAUGHT = "caught"
"""why a fish's episode ended; the other ends are those of its school"""


class FishEnv(WorldEnv):
    """One fish alone in its tank.

    Infos hold `num_alive`, `survival_rate`, `timestep`, `first_death_step` and `step_one_deaths`, those of `reset` also
    `pre_roll_stats`, and those of the last step also `death_timesteps`, `end`, `return` and `length`.

    Args:
      render_mode: 'rgb_array' for pictures, 'human' for a window.
      settings: see `fish_config`; `fish` must be 1, and is if nothing is said.
    """

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": STEPS_PER_SECOND}  # noqa: RUF012  # as Gymnasium

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        config = fish_config({"fish": 1, **settings})
        if config.fish != 1:
            raise ConfigError(
                f"gymnasium.make gives one fish a tank of its own, and fish={config.fish} came; schools come from "
                f"gymnasium.make_vec('{FISH}', fish={config.fish}), where every fish is a lane, and for PettingZoo "
                f"from respawn.envs.fish_parallel.parallel_env(fish={config.fish})"
            )
        self._fish = FishWorldWithAftermath(config, 1)
        super().__init__(self._fish, render_mode=render_mode)
        self.metadata = {**self.metadata, "render_modes": render_modes()}
        self._show = TankShow(render_mode)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode; see `WorldEnv`."""
        observation, info = super().reset(seed=seed, options=options)
        self._show.see(self._fish.swarm)
        births = self._fish.births
        return observation, info | ({} if births is None else {"pre_roll_stats": describe_pre_roll(births, 0)})

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Carry out one action."""
        result = super().step(action)
        self._show.see(self._fish.aftermath())
        return result

    def render(self) -> "Frame | None":
        """The tank as the last step left it; with 'human' it is in its window already, and not returned."""
        return self._show.render()

    def _describe(self, ended: Episode | None) -> dict[str, Any]:
        if ended is None:
            return school_infos(self._fish, self._fish.swarm, last=False)
        end = {"end": CAUGHT} if ended.end == EVERYONE_CAUGHT else {}
        return end | school_infos(self._fish, self._fish.aftermath(), last=True)

    def restore(self, state: StateTree) -> None:
        """Go on from a state of this environment or of another one that was made alike."""
        super().restore(state)
        self._show.see(self._fish.aftermath() if self._next_begun else self._fish.swarm)

    def close(self) -> None:
        """Close the window too, if there is one."""
        self._show.close()
        super().close()


class FishVectorEnv(WorldVectorEnv):
    """Schools that swim at once. Every fish is a lane, and those of a school lie side by side.

    A fish that is caught is terminated once; then its observations and rewards are zeros and its actions are ignored,
    until its school's episode ends and a new school begins within the same step. `infos["alive"]` says who is there.

    Args:
      num_envs: schools.
      render_mode: 'rgb_array' for pictures, one a school.
      facts: whether infos say anything but who is alive and how episodes ended.
      max_episode_steps: the same as limit_steps, by the name that Gymnasium has for it.
      settings: see `fish_config`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        render_mode: str | None = None,
        facts: bool = True,
        max_episode_steps: int | None = None,
        **settings: Any,
    ) -> None:
        config = fish_config(settings if max_episode_steps is None else {**settings, "limit_steps": max_episode_steps})
        if num_envs < 1:
            raise ConfigError(f"num_envs is the number of schools, which must be at least 1, not {num_envs}")
        self._fish = FishWorldWithAftermath(config, num_envs * config.fish)
        self._with_facts = facts
        super().__init__(self._fish, render_mode=render_mode)
        self.metadata["render_fps"] = STEPS_PER_SECOND

    def _describe(self) -> dict[str, Any]:
        alive = {"alive": self._fish.present().cpu().numpy().copy()}
        facts = self._lane_columns(school_columns(self._fish.swarm)) if self._with_facts else {}
        return _with_masks(alive | facts, np.ones(self.num_envs, np.bool_))

    def _describe_ended(self, episodes: tuple[Episode, ...], ended: Array) -> dict[str, Any]:
        left = self._fish.aftermath()
        ends = np.full(self.num_envs, None, dtype=object)
        for episode in episodes:
            ends[episode.lane : episode.lane + self._fish.config.fish] = episode.end
        ends[~left.alive.flatten().cpu().numpy()] = CAUGHT
        ends[~ended] = None
        facts = self._lane_columns(school_columns(left)) if self._with_facts else {}
        return _with_masks({"end": ends, **facts}, ended)

    def _lane_columns(self, columns: dict[str, Array]) -> dict[str, Array]:
        """What is said of schools, for each of their lanes."""
        return {name: column.repeat(self._fish.config.fish) for name, column in columns.items()}


def _with_masks(columns: dict[str, Array], lanes: Array) -> dict[str, Any]:
    """The columns and beside each, as Gymnasium has it, which lanes it speaks of."""
    return columns | {f"_{name}": lanes.copy() for name in columns}
