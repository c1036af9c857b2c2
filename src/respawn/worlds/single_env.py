"""A World of one lane as a `gymnasium.Env`, for code that speaks Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
import torch

from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import Frame, World
from respawn.errors import ConfigError
from respawn.worlds.episodes import Array
from respawn.worlds.vector_env import (
    LARGEST_SEED,
    NO_RENDER_MODE,
    action_space,
    check_render_mode,
    final_observations,
    observation_space,
    read_actions,
    to_array,
)


class WorldEnv(gymnasium.Env[Array, Any]):
    """The only lane of a world, without restarts: what a world begins by itself is held back until `reset` asks.

    `step` returns the last observation of an episode that ends. A world gives it for truncated episodes; for one that
    terminated, a world that does not keep it (see `ShowsFinalObservations`) leaves us with the one before it, which is
    what is returned then.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012  # Gymnasium declares it without ClassVar

    def __init__(self, world: World, *, render_mode: str | None = "rgb_array") -> None:
        if world.spec.num_lanes != 1:
            raise ConfigError(f"expected a world of one lane, got {world.spec.num_lanes}; use WorldVectorEnv for more")
        check_render_mode(render_mode, self.metadata["render_modes"])
        self._world = world
        self.render_mode = render_mode
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
        return self._last_seen.copy(), self._describe(None)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Carry out one action; the info of an episode's last step has its `end`, its `return` and its `length`."""
        if self._last_seen is None or self._next_begun:
            raise gymnasium.error.ResetNeeded("expected reset() before this step(): no episode is under way")
        actions = read_actions(self.action_space, np.asarray(action)[None], 1)
        result = self._world.step(torch.as_tensor(actions))
        terminated, truncated = bool(result.terminated[0]), bool(result.truncated[0])
        if terminated or truncated:
            self._next_begun = True
            before, cut = self._last_seen[None], np.array([truncated])
            seen = final_observations(self._world, before, cut, result.cut_observations)[0]
            episode = result.episodes[0]
            # Not under the name 'episode', which Gymnasium's and other people's wrappers want for themselves.
            info = {"end": episode.end, "return": episode.episode_return, "length": episode.length}
            info |= self._describe(episode)
        else:
            seen = to_array(result.observation)[0]
            info = self._describe(None)
        self._last_seen = seen
        return seen.copy(), float(result.reward[0]), terminated, truncated, info

    def _describe(self, ended: Episode | None) -> dict[str, Any]:
        """What else the info says, of a step that may have `ended` an episode; nothing, unless a world knows more."""
        return {}

    def render(self) -> "Frame | None":
        """A picture of the world."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return self._world.render(0)

    def state(self) -> StateTree:
        """Everything that decides how it goes on; `state()["observation"]` is what was last seen."""
        return {
            "world": self._world.state(),
            "observation": None if self._last_seen is None else self._last_seen.copy(),
            "next_begun": self._next_begun,
            "generator": self.np_random.bit_generator.state,
        }

    def restore(self, state: StateTree) -> None:
        """Go on from a state of this environment or of another one that was made alike."""
        self._world.restore(state["world"])
        self._last_seen = None if state["observation"] is None else np.array(state["observation"])
        self._next_begun = state["next_begun"]
        self.np_random.bit_generator.state = state["generator"]

    def close(self) -> None:
        """Close the world."""
        self._world.close()
