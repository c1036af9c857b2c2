"""Everything that is in the tanks: S schools of N fish and one predator each. Plain tensors, nothing else remembers."""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from respawn.contracts.saveable import StateTree


@dataclass
class SwarmState:
    """The places, speeds and lives of all. Coordinates come first, so that each is one contiguous block."""

    fish: Tensor  # [4, S, N] float32: x, y, vx, vy
    predator: Tensor  # [4, S] float32: x, y, vx, vy
    alive: Tensor  # [S, N] bool
    death_steps: Tensor  # [S, N] int32: the step that a fish was caught in; -1: none yet
    steps: Tensor  # [S] int32 since the episode began
    cut_steps: Tensor  # [S] int32: the step after which the episode is cut by force
    sizes: Tensor  # [S] int32: fish that the episode began with; places from there on are empty

    @classmethod
    def empty(cls, num_schools: int, num_fish: int, device: torch.device) -> "SwarmState":
        """Tanks without a living fish."""
        return cls(
            fish=torch.zeros(4, num_schools, num_fish, device=device),
            predator=torch.zeros(4, num_schools, device=device),
            alive=torch.zeros(num_schools, num_fish, dtype=torch.bool, device=device),
            death_steps=torch.full((num_schools, num_fish), -1, dtype=torch.int32, device=device),
            steps=torch.zeros(num_schools, dtype=torch.int32, device=device),
            cut_steps=torch.zeros(num_schools, dtype=torch.int32, device=device),
            sizes=torch.zeros(num_schools, dtype=torch.int32, device=device),
        )

    def some(self, schools: Tensor) -> "SwarmState":
        """A copy of some schools [K] int64."""
        return SwarmState(
            fish=self.fish[:, schools],
            predator=self.predator[:, schools],
            alive=self.alive[schools],
            death_steps=self.death_steps[schools],
            steps=self.steps[schools],
            cut_steps=self.cut_steps[schools],
            sizes=self.sizes[schools],
        )

    def put(self, schools: Tensor, other: "SwarmState") -> None:
        """Write what `some` gave back to its place, changed or not."""
        self.fish[:, schools] = other.fish
        self.predator[:, schools] = other.predator
        self.alive[schools] = other.alive
        self.death_steps[schools] = other.death_steps
        self.steps[schools] = other.steps
        self.cut_steps[schools] = other.cut_steps
        self.sizes[schools] = other.sizes

    def state(self) -> StateTree:
        """Copies of all, by name."""
        return {field.name: getattr(self, field.name).clone() for field in fields(self)}

    def restore(self, state: StateTree) -> None:
        """All as it was."""
        for field in fields(self):
            getattr(self, field.name).copy_(state[field.name])
