"""Super Mario Bros. as Gymnasium knows it: `respawn/Mario-v0`, alone or many at once.

    import gymnasium, respawn

    env = gymnasium.make("respawn/Mario-v0", level="1-1", render_mode="rgb_array")
    envs = gymnasium.make_vec("respawn/Mario-v0", num_envs=8, levels=["1-1", "1-2"], observation="pixels")

Arguments are the fields of `MarioConfig` by their names, and `level` for a single one.
"""

from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from respawn.contracts.records import Episode
from respawn.contracts.world import Frame
from respawn.envs.mario_settings import mario_config
from respawn.envs.showing import GameWindow, windows_can_open
from respawn.worlds.episodes import Array
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.progress import FRAMES_PER_SECOND
from respawn.worlds.registry import caveats, make_world
from respawn.worlds.single_env import WorldEnv
from respawn.worlds.vector_env import WorldVectorEnv

if TYPE_CHECKING:  # needs the engine, which is missed with a better sentence when a world is made
    from respawn.worlds.mario.ram import MarioFacts
    from respawn.worlds.mario.world import MarioWorld

LARGEST_NUMBER = 1024.0
"""No number of a tile observation is further from 0, whatever the game's memory holds; nearly all are within 2."""
FACTS = ("x", "y", "score", "coins", "time", "lives", "power")
"""What infos say of each lane beside its level, under these names; see `MarioFacts`."""


class MarioEnv(WorldEnv):
    """One console. Infos hold `x`, `y`, `score`, `coins`, `time`, `lives`, `power`, `level` and `cleared`.

    The last step of an episode also says why it ended (`end`, such as 'flag' or 'pit'), its `return` and its `length`.

    Args:
      render_mode: 'rgb_array' for pictures, 'human' for a window in which every frame is shown at the console's speed.
      settings: see `mario_config`.
    """

    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 15}  # noqa: RUF012  # as Gymnasium declares it

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        config = mario_config(settings)
        self._mario = _make_mario(config, 1)
        super().__init__(self._mario, render_mode=render_mode)
        if config.observation == "tiles":
            self.observation_space = tile_space(self.observation_space)
        modes = self.metadata["render_modes"] if windows_can_open() else ["rgb_array"]
        self.metadata = {"render_modes": modes, "render_fps": _decisions_per_second(config)}
        self._window = GameWindow("Super Mario Bros.", FRAMES_PER_SECOND) if render_mode == "human" else None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode; see `WorldEnv`."""
        begun = super().reset(seed=seed, options=options)
        if self._window is not None:
            self._window.show(self._mario.render(0)[None])
        return begun

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Carry out one action."""
        result = super().step(action)
        if self._window is not None:
            self._window.show(self._mario.last_frames(0))
        return result

    def render(self) -> "Frame | None":
        """The screen as it is, or as it was when the episode ended; with 'human' it is shown and not returned."""
        if self.render_mode is None:
            return super().render()
        picture = self._mario.last_frames(0)[-1] if self._next_begun else self._mario.render(0)
        if self._window is None:
            return picture
        self._window.show(picture[None])
        return None

    def _describe(self, ended: Episode | None) -> dict[str, Any]:
        facts = self._mario.facts() if ended is None else self._mario.final_facts()
        return {
            **{name: int(getattr(facts, name)[0]) for name in FACTS},
            "level": f"{facts.world[0]}-{facts.stage[0]}",
            "cleared": ended is not None and bool(ended.facts["cleared"]),
        }

    def close(self) -> None:
        """Close the window too, if there is one."""
        if self._window is not None:
            self._window.close()
        super().close()


class MarioVectorEnv(WorldVectorEnv):
    """Many consoles that step together. Infos are those of `MarioEnv` as arrays, those of ended episodes in final_info.

    Args:
      num_envs: how many.
      render_mode: 'rgb_array' for pictures.
      facts: whether infos say anything but how episodes ended.
      max_episode_steps: the same as limit_steps, by the name that Gymnasium has for it.
      settings: see `mario_config`.
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
        config = mario_config(settings if max_episode_steps is None else {**settings, "limit_steps": max_episode_steps})
        self._mario = _make_mario(config, num_envs)
        self._with_facts = facts
        super().__init__(self._mario, render_mode=render_mode)
        self.metadata["render_fps"] = _decisions_per_second(config)
        if config.observation == "tiles":
            self.single_observation_space = tile_space(self.single_observation_space)
            self.observation_space = batch_space(self.single_observation_space, num_envs)

    def _describe(self) -> dict[str, Any]:
        if not self._with_facts:
            return {}
        cleared = np.zeros(self.num_envs, np.bool_)  # where a level was, final_info says so
        return _columns(self._mario.facts(), cleared, np.ones(self.num_envs, np.bool_))

    def _describe_ended(self, episodes: tuple[Episode, ...], ended: Array) -> dict[str, Any]:
        ends = np.full(self.num_envs, None, dtype=object)
        cleared = np.zeros(self.num_envs, np.bool_)
        for episode in episodes:
            ends[episode.lane], cleared[episode.lane] = episode.end, bool(episode.facts["cleared"])
        facts = _columns(self._mario.final_facts(), cleared, ended) if self._with_facts else {}
        return {"end": ends, "_end": ended.copy(), **facts}


def tile_space(space: spaces.Space[Any]) -> spaces.Box:
    """The space of tile observations, with the bounds that they have."""
    return spaces.Box(-LARGEST_NUMBER, LARGEST_NUMBER, space.shape, np.float32)


def _make_mario(config: MarioConfig, num_lanes: int) -> "MarioWorld":
    for caveat in caveats(config):
        gymnasium.logger.warn(caveat.message)
    return cast("MarioWorld", make_world(config, num_lanes, device=torch.device("cpu"), seed=0))


def _decisions_per_second(config: MarioConfig) -> float:
    return FRAMES_PER_SECOND / config.frame_skip


def _columns(facts: "MarioFacts", cleared: Array, lanes: Array) -> dict[str, Any]:
    """One array a fact, and beside each, as Gymnasium has it, which lanes it speaks of."""
    said: dict[str, Any] = {name: getattr(facts, name).copy() for name in FACTS}
    said["cleared"] = cleared
    said["level"] = np.array([f"{world}-{stage}" for world, stage in zip(facts.world, facts.stage, strict=True)])
    return said | {f"_{name}": lanes.copy() for name in said}
