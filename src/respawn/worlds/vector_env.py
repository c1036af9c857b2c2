"""A World as a `gymnasium.vector.VectorEnv`, for code that speaks Gymnasium."""

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions, Frame, ObservationSpec, World
from respawn.errors import ConfigError, WorldError
from respawn.worlds.episodes import Array, ShowsFinalObservations
from respawn.worlds.lane_tally import LaneTally

LARGEST_SEED = 2**31 - 1
NO_RENDER_MODE = "render() shows nothing without a render mode; make the environment with render_mode='rgb_array'"


class WorldVectorEnv(VectorEnv[Array, Array, Array]):
    """Every lane of a world as a sub-environment that restarts within the step that ends it.

    The last observation of an episode is in `infos["final_obs"]`, its return and length in `infos["final_info"]`. For
    an episode that terminated in a world that does not keep its last observation, it is the one before it.

    Where several lanes live in one episode, each has a return and a length of its own, until it is terminated; it then
    waits, with nobody there, for the episode to end. Such lanes share a seed and a picture.
    """

    def __init__(self, world: World, *, render_mode: str | None = "rgb_array") -> None:
        check_render_mode(render_mode, ["rgb_array"])
        spec = world.spec
        self._world = world
        self.num_envs = spec.num_lanes
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["rgb_array"]}
        self.render_mode = render_mode
        self.single_observation_space = observation_space(spec.observation)
        self.single_action_space = action_space(spec.actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._last_seen: Array | None = None
        self._tally = LaneTally(spec.num_lanes)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode in every lane; one seed stands for itself and the numbers that follow it.

        Args:
          seed: one, or one for each episode that there is room for, in lane order.
          options: are ignored.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        num_lanes_each = self._world.spec.lanes_per_episode
        num_episodes = self.num_envs // num_lanes_each
        if isinstance(seed, int):
            seeds: list[int | None] = [seed + number for number in range(num_episodes)]
        else:
            seeds = [None] * num_episodes if seed is None else list(seed)
        if len(seeds) != num_episodes:
            raise ConfigError(f"reset wants one seed, or a list with one for each of {num_episodes}, not {len(seeds)}")
        drawn = [int(self.np_random.integers(LARGEST_SEED)) if each is None else each for each in seeds]
        self._last_seen = to_array(self._world.reset([each for each in drawn for _ in range(num_lanes_each)]))
        self._tally.begin()
        return self._last_seen.copy(), self._describe()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Carry out one action a lane."""
        if self._last_seen is None:
            raise gymnasium.error.ResetNeeded("expected reset() before the first step()")
        actions = read_actions(self.single_action_space, actions, self.num_envs)
        present = to_array(self._world.present())
        result = self._world.step(torch.as_tensor(actions))
        reward = to_array(result.reward).astype(np.float64)
        terminated, truncated = to_array(result.terminated), to_array(result.truncated)
        ended = terminated | truncated
        self._tally.add(reward, present)
        infos = self._describe()
        if ended.any():
            finals = final_observations(self._world, self._last_seen, truncated, result.cut_observations)
            rows = np.full(self.num_envs, None, dtype=object)
            for lane in np.flatnonzero(ended):
                rows[lane] = finals[lane]
            returns, lengths = self._tally.close(ended)
            summary = {"r": returns, "_r": ended.copy(), "l": lengths, "_l": ended.copy()}
            infos |= {
                "final_obs": rows,
                "_final_obs": ended,
                "final_info": {
                    "episode": summary,
                    "_episode": ended.copy(),
                    **self._describe_ended(result.episodes, ended),
                },
                "_final_info": ended.copy(),
            }
        self._last_seen = to_array(result.observation)
        return self._last_seen.copy(), reward, terminated, truncated, infos

    def _describe(self) -> dict[str, Any]:
        """What else the infos say of each lane as it is now; nothing, unless a world knows more."""
        return {}

    def _describe_ended(self, episodes: tuple[Episode, ...], ended: Array) -> dict[str, Any]:
        """What else `final_info` says of the lanes that ended; `episodes` are those that ended as a whole."""
        return {}

    def render(self) -> tuple[Frame, ...] | None:
        """One picture an episode: one a lane, unless several share one."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return tuple(self._world.render(lane) for lane in range(0, self.num_envs, self._world.spec.lanes_per_episode))

    def state(self) -> StateTree:
        """Everything that decides how it goes on; `state()["observations"]` is what was last seen."""
        return {
            "world": self._world.state(),
            "observations": None if self._last_seen is None else self._last_seen.copy(),
            "generator": self.np_random.bit_generator.state,
            "tally": self._tally.state(),
        }

    def restore(self, state: StateTree) -> None:
        """Go on from a state of this environment or of another one that was made alike."""
        self._world.restore(state["world"])
        self._last_seen = None if state["observations"] is None else np.array(state["observations"])
        self.np_random.bit_generator.state = state["generator"]
        self._tally.restore(state["tally"])

    def close_extras(self, **kwargs: Any) -> None:
        """Close the world."""
        self._world.close()


def check_render_mode(render_mode: str | None, known: Sequence[str]) -> None:
    """Refuse a way of showing pictures that there is not."""
    if render_mode is not None and render_mode not in known:
        raise ConfigError(f"render_mode must be None or one of {', '.join(known)}, not {render_mode!r}")


def observation_space(spec: ObservationSpec) -> spaces.Box:
    """The Gymnasium space of one lane's observations."""
    if spec.dtype == "uint8":
        return spaces.Box(0, 255, spec.shape, np.uint8)
    return spaces.Box(-np.inf, np.inf, spec.shape, np.float32)


def action_space(spec: ActionSpec) -> spaces.Space[Any]:
    """The Gymnasium space of one lane's actions, in the units that a policy speaks in."""
    if isinstance(spec, DiscreteActions):
        return spaces.Discrete(spec.num_actions)
    if isinstance(spec, ContinuousActions):
        return spaces.Box(-1.0, 1.0, (spec.size,), np.float32)
    return spaces.MultiDiscrete(list(spec.sizes))


def read_actions(space: spaces.Space[Any], actions: Any, num_lanes: int) -> Array:
    """One action a lane as an array that a world can take; raises InvalidAction for what is none."""
    array = np.asarray(actions, space.dtype if isinstance(space, spaces.Box) else None)
    wanted = (num_lanes, *(space.shape or ()))
    if array.size != math.prod(wanted):
        raise gymnasium.error.InvalidAction(f"expected actions of shape {wanted}, and {array.shape} came")
    # As an index it would mean another choice, from the end.
    if isinstance(space, spaces.Discrete) and array.size and not (0 <= array.min() <= array.max() < space.n):
        raise gymnasium.error.InvalidAction(f"actions are 0 to {space.n - 1}, and {array.tolist()} came")
    if isinstance(space, spaces.Box) and not np.isfinite(array).all():
        raise gymnasium.error.InvalidAction(f"actions are finite numbers, and {array.tolist()} came")
    return array


def to_array(tensor: torch.Tensor) -> Array:
    """A copy of a world's tensor, which the world may overwrite."""
    return np.array(tensor.cpu().numpy())


def final_observations(world: World, before: Array, truncated: Array, cuts: torch.Tensor) -> Array:
    """What was last seen in lanes that ended in the last step, [B, ...]; other rows have no meaning."""
    if isinstance(world, ShowsFinalObservations):
        return to_array(world.final_observations())
    if int(truncated.sum()) != len(cuts):
        raise WorldError(f"expected {int(truncated.sum())} cut observations, one a truncated lane, got {len(cuts)}")
    finals = before.copy()
    finals[truncated] = to_array(cuts)
    return finals
