"""What each school's episode has come to so far, and what it says of itself in the end."""

import math

import torch
from torch import Tensor

from respawn.contracts.saveable import StateTree
from respawn.worlds.fish.state import SwarmState


class SchoolLedger:
    """Sums over the steps of each school's episode, on the device."""

    def __init__(self, num_schools: int, device: torch.device) -> None:
        self._returns = torch.zeros(num_schools, dtype=torch.float64, device=device)  # [S] of the mean fish
        self._survival = torch.zeros_like(self._returns)  # [S] share alive, summed over the steps
        self._hard = torch.zeros(num_schools, dtype=torch.bool, device=device)  # [S] began with a given start

    def begin(self, schools: Tensor, hard: Tensor) -> None:
        """Some schools [K] begin anew."""
        self._returns[schools] = 0.0
        self._survival[schools] = 0.0
        self._hard[schools] = hard

    def add(self, paid: Tensor, living: Tensor, sizes: Tensor) -> None:
        """Take note of a step's rewards, summed over each school, who is alive after it and who began, each [S]."""
        began = sizes.clamp(min=1).double()
        self._returns += paid / began
        self._survival += living / began

    def totals(self, schools: Tensor, swarm: SwarmState) -> tuple[list[float], list[int]]:
        """Return of the mean fish and length of some schools' episodes."""
        where = schools.to(self._returns.device)
        return self._returns[where].tolist(), swarm.steps[where].tolist()

    def facts(self, schools: Tensor, swarm: SwarmState) -> list[dict[str, float | str]]:
        """What some schools' episodes say of themselves; the first death is NaN where nobody died."""
        where = schools.to(self._returns.device)
        sizes = swarm.sizes[where].clamp(min=1).double()
        alive = swarm.alive[where].sum(1).double()
        deaths = swarm.death_steps[where]  # [K, N]
        first = torch.where(deaths > 0, deaths, torch.iinfo(torch.int32).max).amin(1)
        mean_survival = self._survival[where] / swarm.steps[where].clamp(min=1)
        columns = {
            "survival": alive / sizes,
            "alive": alive,
            "mean_survival": mean_survival,
            "mean_alive": mean_survival * sizes,
            "first_death": torch.where((deaths > 0).any(1), first.double(), math.nan),
            "step_one_deaths": (deaths == 1).sum(1).double(),
            "hard_start": self._hard[where].double(),
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def state(self) -> StateTree:
        """The sums."""
        return {"returns": self._returns.clone(), "survival": self._survival.clone(), "hard": self._hard.clone()}

    def restore(self, state: StateTree) -> None:
        """The sums again."""
        self._returns.copy_(state["returns"])
        self._survival.copy_(state["survival"])
        self._hard.copy_(state["hard"])
