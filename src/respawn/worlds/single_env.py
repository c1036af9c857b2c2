"""A World of one lane as a `gymnasium.Env`, for code that speaks Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
import torch

from respawn.contracts.world import Frame, World
from respawn.errors import ConfigError
from respawn.worlds.episodes import Array
from respawn.worlds.vector_env import LARGEST_SEED, action_space, final_observations, observation_space, to_array


class WorldEnv(gymnasium.Env[Array, Any]):
    """The only lane of a world, without restarts: what a world begins by itself is held back until `reset` asks.

    `step` returns the last observation of an episode that ends. A world gives it for truncated episodes; for one that
    terminated, a world that does not keep it (see `ShowsFinalObservations`) leaves us with the one before it, which is
    what is returned then.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012  # Gymnasium declares it without ClassVar

    def __init__(self, world: World) -> None:
        if world.spec.num_lanes != 1:
            raise ConfigError(f"expected a world of one lane, got {world.spec.num_lanes}; use WorldVectorEnv for more")
        self._world = world
        self.render_mode = "rgb_array"
        self.observation_space = observation_space(world.spec.observation)
        self.action_space = action_space(world.spec.actions)
        self._last_seen: Array | None = None
        self._next_begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode: from `seed`, or the one that the world went on with, or from a seed of our own."""
        super().reset(seed=seed)
        if seed is None and self._next_begun:
            observation = self._world.observe()
        else:
            observation = self._world.reset([int(self.np_random.integers(LARGEST_SEED)) if seed is None else seed])
        self._next_begun = False
        self._last_seen = to_array(observation)[0]
        return self._last_seen.copy(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Carry out one action."""
        if self._last_seen is None or self._next_begun:
            raise gymnasium.error.ResetNeeded("expected reset() before this step(): no episode is under way")
        result = self._world.step(torch.as_tensor(np.asarray(action)[None]))
        terminated, truncated = bool(result.terminated[0]), bool(result.truncated[0])
        info: dict[str, Any] = {}
        if terminated or truncated:
            self._next_begun = True
            before, cut = self._last_seen[None], np.array([truncated])
            seen = final_observations(self._world, before, cut, result.cut_observations)[0]
            episode = result.episodes[0]
            info = {"episode": {"r": episode.episode_return, "l": episode.length}, "end": episode.end}
        else:
            seen = to_array(result.observation)[0]
        self._last_seen = seen
        return seen.copy(), float(result.reward[0]), terminated, truncated, info

    def render(self) -> Frame:
        """A picture of the world."""
        return self._world.render(0)

    def close(self) -> None:
        """Close the world."""
        self._world.close()
