"""Schools whose last moment can still be looked at once the next episode has begun, for those outside who ask."""

from collections.abc import Sequence

import torch
from torch import Tensor

from respawn.contracts.saveable import StateTree
from respawn.contracts.world import StepResult
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.world import FishWorld


class FishWorldWithAftermath(FishWorld):
    """A FishWorld that keeps a copy of every school as its last episode left it.

    Training needs none of this, and does not pay for it: Gymnasium's and PettingZoo's users expect the last observation
    of every episode, and pictures of how it ended.
    """

    def __init__(self, config: FishConfig, num_lanes: int, *, device: torch.device | None = None) -> None:
        super().__init__(config, num_lanes, device=device)
        self._left = SwarmState.empty(self._num_schools, config.fish, self._device)
        self._last_seen = torch.zeros_like(self._observation)  # [S, N, 11 or 18]
        self._just_ended = torch.zeros(self._num_schools, dtype=torch.bool, device=self._device)
        self._predator_after_one = torch.zeros_like(self._swarm.predator)  # [4, S]

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin a new episode in every school, from the seed of its first lane."""
        observation = super().reset(seeds)
        self._just_ended.zero_()
        return observation

    def step(self, actions: Tensor) -> StepResult:
        """As FishWorld does."""
        self._just_ended.zero_()
        result = super().step(actions)
        self._note_step_one()
        return result

    def final_observations(self) -> Tensor:
        """[S * N, ...] as the last step left them, before any school began anew; zeros for the dead."""
        return torch.where(self._just_ended[:, None, None], self._last_seen, self._observation).flatten(0, 1)

    def aftermath(self) -> SwarmState:
        """All schools as the last step left them, before any began anew; not to be changed."""
        if not bool(self._just_ended.any()):
            return self._swarm
        schools = self._just_ended.nonzero().squeeze(1)
        whole = self._swarm.some(self._all.to(self._device))
        whole.put(schools, self._left.some(schools))
        return whole

    def predator_after_one(self) -> Tensor:
        """x, y, vx, vy of each predator after the first step of the episode that `aftermath` shows, [4, S]."""
        return self._predator_after_one

    def state(self) -> StateTree:
        """What FishWorld has, and what was kept."""
        return {
            **super().state(),
            "left": self._left.state(),
            "last_seen": self._last_seen.clone(),
            "just_ended": self._just_ended.clone(),
            "predator_after_one": self._predator_after_one.clone(),
        }

    def restore(self, state: StateTree) -> None:
        """All as it was."""
        super().restore(state)
        self._left.restore(state["left"])
        self._last_seen.copy_(state["last_seen"])
        self._just_ended.copy_(state["just_ended"])
        self._predator_after_one = state["predator_after_one"].to(self._device).clone()

    def _begin(self, schools: Tensor) -> None:
        where = schools.to(self._device)
        self._note_step_one()
        self._left.put(where, self._swarm.some(where))
        self._last_seen[where] = self._observation[where]
        self._just_ended[where] = True
        super()._begin(schools)

    def _note_step_one(self) -> None:
        first = self._swarm.steps == 1
        self._predator_after_one = torch.where(first, self._swarm.predator, self._predator_after_one)
