"""All lanes of `respawn/Mario-v0` as one VecEnv of Stable-Baselines3, without a Python loop over environments."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

import respawn  # noqa: F401  # registers respawn/Mario-v0


class SB3VectorEnv(VecEnv):
    """Hands everything through; only what SB3 calls otherwise is called otherwise."""

    def __init__(self, **settings: Any) -> None:
        self._envs = gymnasium.make_vec("respawn/Mario-v0", **settings)
        self._actions = np.zeros(0, np.int64)
        super().__init__(self._envs.num_envs, self._envs.single_observation_space, self._envs.single_action_space)
        self.render_mode = self._envs.render_mode

    def reset(self) -> np.ndarray:
        """Begin anew in every lane."""
        seed = self._seeds[0]
        self._reset_seeds()
        return self._envs.reset(seed=seed)[0]

    def step_async(self, actions: np.ndarray) -> None:
        """Note what is to be done."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Do it; ended lanes have begun anew, and what was last seen there is in their infos."""
        observations, rewards, terminated, truncated, infos = self._envs.step(self._actions)
        ended = terminated | truncated
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for lane in np.flatnonzero(ended):
            episode = infos["final_info"]["episode"]
            told[lane] = {
                "terminal_observation": infos["final_obs"][lane],
                "TimeLimit.truncated": bool(truncated[lane]),
                "episode": {"r": float(episode["r"][lane]), "l": int(episode["l"][lane]), "t": 0.0},
            }
        return observations, rewards.astype(np.float32), ended, told

    def close(self) -> None:
        """Close all."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same for every lane."""
        return [getattr(self._envs, attr_name)] * len(self._lanes(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set for some lanes only."""
        raise NotImplementedError("the lanes are one environment")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Nothing can be called for some lanes only."""
        raise NotImplementedError("the lanes are one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(self._lanes(indices))

    def _lanes(self, indices: int | Sequence[int] | None) -> list[int]:
        return list(self._get_indices(indices))
