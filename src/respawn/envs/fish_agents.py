"""The PettingZoo environment that `fish_parallel.parallel_env` makes. To import it needs PettingZoo."""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from respawn.contracts.world import Frame
from respawn.envs.fish_infos import school_infos
from respawn.envs.fish_settings import fish_config
from respawn.envs.fish_show import STEPS_PER_SECOND, TankShow, render_modes
from respawn.worlds.episodes import Array
from respawn.worlds.fish.aftermath import FishWorldWithAftermath
from respawn.worlds.fish.constants import FISH_MAX_SPEED, TANK_RADIUS
from respawn.worlds.fish.starts import describe_pre_roll
from respawn.worlds.fish.world import school_seeds
from respawn.worlds.vector_env import LARGEST_SEED, action_space, observation_space, read_actions, to_array

_NUMBERS_OF_FISH, _NUMBERS_OF_SCHOOL = 5, 5


class FishParallelEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo says nothing of its types
    """One school; agents are 'fish_0', 'fish_1', … and leave when they are caught or when the episode ends.

    A caught fish is terminated; the time limit truncates the others, or terminates them with `limit_truncates=False`.
    Infos say the same of every agent: `num_alive`, `survival_rate`, `timestep`, `first_death_step`,
    `step_one_deaths`, those of `reset` also `pre_roll_stats`, those of the episode's last step also `death_timesteps`.

    Args:
      render_mode: 'rgb_array' for pictures, 'human' for a window.
      settings: see `fish_config`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # as PettingZoo declares it
        "name": "respawn_fish_v0",
        "render_modes": ["human", "rgb_array"],
        "render_fps": STEPS_PER_SECOND,
        "is_parallelizable": True,
    }

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        config = fish_config(settings)
        self._world = FishWorldWithAftermath(config, config.fish)
        self._show = TankShow(render_mode)
        self.metadata = {**self.metadata, "render_modes": render_modes()}
        self.render_mode = render_mode
        self.possible_agents = [f"fish_{number}" for number in range(config.fish)]
        self.agents: list[str] = []
        self._numbers = {agent: number for number, agent in enumerate(self.possible_agents)}
        spec = self._world.spec
        # A space has its own dice, which must not be the same for all.
        self.observation_spaces = {agent: observation_space(spec.observation) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(spec.actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(
            -np.inf, np.inf, (_NUMBERS_OF_FISH * config.fish + _NUMBERS_OF_SCHOOL,), np.float32
        )
        self._swarm = self._world.swarm  # as it was seen last
        self._np_random, _ = seeding.np_random()
        self._next_begun = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may see: 11 numbers, or 18 with those of its neighbours."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may do."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Begin a new episode: from `seed`, or the one that the world went on with, or from a seed of our own."""
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        if seed is not None or not self._next_begun:
            drawn = int(self._np_random.integers(LARGEST_SEED)) if seed is None else seed
            self._world.reset(school_seeds([drawn], len(self.possible_agents)))
        self._next_begun = False
        self._swarm = self._world.swarm
        self._show.see(self._swarm)
        self.agents = list(self.possible_agents)
        facts = school_infos(self._world, self._swarm, last=False)
        if self._world.births is not None:
            facts["pre_roll_stats"] = describe_pre_roll(self._world.births, 0)
        rows = to_array(self._world.observe())
        return self._by_agent(rows), {agent: dict(facts) for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out one action an agent; agents that have left may be given one, which does nothing."""
        if not self.agents:
            raise gymnasium.error.ResetNeeded("expected reset() before this step(): no episode is under way")
        result = self._world.step(self._gathered(actions))
        self._next_begun = bool(result.episodes)
        self._swarm = self._world.aftermath()
        self._show.see(self._swarm)
        rows, rewards = to_array(self._world.final_observations()), result.reward.tolist()
        terminated, truncated = result.terminated.tolist(), result.truncated.tolist()
        facts = school_infos(self._world, self._swarm, last=self._next_begun)
        numbers = {agent: self._numbers[agent] for agent in self.agents}
        answer = (
            self._by_agent(rows),
            {agent: rewards[number] for agent, number in numbers.items()},
            {agent: terminated[number] for agent, number in numbers.items()},
            {agent: truncated[number] for agent, number in numbers.items()},
            {agent: dict(facts) for agent in self.agents},
        )
        self.agents = [agent for agent, number in numbers.items() if not (terminated[number] or truncated[number])]
        return answer

    def state(self) -> Array:
        """The whole tank: x, y, vx, vy and 1 if alive of each fish, then x, y, vx, vy of the predator and the step.

        Scaled as observations are: places by the tank, velocities by a fish's greatest, the step by the limit. Numbers
        of dead fish are zeros.
        """
        scale = np.array([[TANK_RADIUS], [TANK_RADIUS], [FISH_MAX_SPEED], [FISH_MAX_SPEED]], np.float32)
        alive = to_array(self._swarm.alive[0]).astype(np.float32)  # [N]
        fish = np.concatenate([to_array(self._swarm.fish[:, 0]) / scale * alive, alive[None]]).T  # [N, 5]
        predator = to_array(self._swarm.predator) / scale  # [4, 1]
        step = np.array([int(self._swarm.steps[0]) / self._world.config.limit_steps])
        return np.concatenate([fish.ravel(), predator.ravel(), step]).astype(np.float32)

    def render(self) -> "Frame | None":
        """The tank as the last step left it; with 'human' it is in its window already, and not returned."""
        return self._show.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._show.close()
        self._world.close()

    def _by_agent(self, rows: Array) -> dict[str, Array]:
        return {agent: rows[self._numbers[agent]] for agent in self.agents}

    def _gathered(self, actions: dict[str, Any]) -> torch.Tensor:
        """One action a lane; those of fish that have left are zeros, which nobody reads."""
        missing = [agent for agent in self.agents if agent not in actions]
        unknown = [agent for agent in actions if agent not in self._numbers]
        if missing or unknown:
            said = f"none came for {_few(missing)}" if missing else f"there is no {_few(unknown)}"
            raise gymnasium.error.InvalidAction(f"step() wants an action for every fish in env.agents, and {said}")
        space = self.action_spaces[self.agents[0]]
        gathered = np.zeros((len(self.possible_agents), *(space.shape or ())), space.dtype)
        for agent in self.agents:
            gathered[self._numbers[agent]] = read_actions(space, actions[agent], 1)
        return torch.as_tensor(gathered)


def _few(agents: list[str]) -> str:
    return agents[0] if len(agents) == 1 else f"{agents[0]} and {len(agents) - 1} more"
