"""A World as a `gymnasium.vector.VectorEnv`, for code that speaks Gymnasium."""

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

LARGEST_SEED = 2**31 - 1
NO_RENDER_MODE = "render() shows nothing without a render mode; make the environment with render_mode='rgb_array'"


class WorldVectorEnv(VectorEnv[Array, Array, Array]):
    """Every lane of a world as a sub-environment that restarts within the step that ends it.

    The last observation of an episode is in `infos["final_obs"]`, its return and length in `infos["final_info"]`. For
    an episode that terminated in a world that does not keep its last observation, it is the one before it.
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

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode in every lane; one seed stands for itself and the numbers that follow it."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if isinstance(seed, int):
            seeds: list[int | None] = [seed + lane for lane in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else list(seed)
        drawn = [int(self.np_random.integers(LARGEST_SEED)) if each is None else each for each in seeds]
        self._last_seen = to_array(self._world.reset(drawn))
        return self._last_seen.copy(), self._describe()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Carry out one action a lane."""
        if self._last_seen is None:
            raise gymnasium.error.ResetNeeded("expected reset() before the first step()")
        actions = np.asarray(actions)
        check_actions(self.single_action_space, actions)
        result = self._world.step(torch.as_tensor(actions))
        terminated, truncated = to_array(result.terminated), to_array(result.truncated)
        infos = self._describe()
        if result.episodes:
            ended = terminated | truncated
            finals = final_observations(self._world, self._last_seen, truncated, result.cut_observations)
            rows = np.full(self.num_envs, None, dtype=object)
            for lane in np.flatnonzero(ended):
                rows[lane] = finals[lane]
            returns, lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, np.int64)
            for episode in result.episodes:
                returns[episode.lane], lengths[episode.lane] = episode.episode_return, episode.length
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
        return self._last_seen.copy(), to_array(result.reward).astype(np.float64), terminated, truncated, infos

    def _describe(self) -> dict[str, Any]:
        """What else the infos say of each lane as it is now; nothing, unless a world knows more."""
        return {}

    def _describe_ended(self, episodes: tuple[Episode, ...], ended: Array) -> dict[str, Any]:
        """What else `final_info` says of the lanes whose episode ended."""
        return {}

    def render(self) -> tuple[Frame, ...] | None:
        """One picture a lane."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return tuple(self._world.render(lane) for lane in range(self.num_envs))

    def state(self) -> StateTree:
        """Everything that decides how it goes on; `state()["observations"]` is what was last seen."""
        return {
            "world": self._world.state(),
            "observations": None if self._last_seen is None else self._last_seen.copy(),
            "generator": self.np_random.bit_generator.state,
        }

    def restore(self, state: StateTree) -> None:
        """Go on from a state of this environment or of another one that was made alike."""
        self._world.restore(state["world"])
        self._last_seen = None if state["observations"] is None else np.array(state["observations"])
        self.np_random.bit_generator.state = state["generator"]

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


def check_actions(space: spaces.Space[Any], actions: Array) -> None:
    """Raise InvalidAction for a choice that there is none of: as an index it would mean another, from the end."""
    if isinstance(space, spaces.Discrete) and actions.size and not (0 <= actions.min() <= actions.max() < space.n):
        raise gymnasium.error.InvalidAction(f"actions are 0 to {space.n - 1}, and {actions.tolist()} came")


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
