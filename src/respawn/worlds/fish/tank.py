"""What happens in the tanks in a step: fish swim, predators fall and catch, the living sense and are paid.

In two ways that agree to the last bit (to rounding where fish steer freely, and in sums): torch operations on any
device, and one compiled pass for each of these on the CPU.
"""

from types import ModuleType
from typing import Protocol

import torch
from torch import Tensor

from respawn.worlds.fish import kernels
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.physics import steer, steer_freely, swim
from respawn.worlds.fish.predator import catches, distances, fall
from respawn.worlds.fish.rewards import crowding, pay
from respawn.worlds.fish.senses import feel, look
from respawn.worlds.fish.state import SwarmState


class Tank(Protocol):
    """One way to do it."""

    def move(self, swarm: SwarmState, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Move everybody; the distances [S, N] from the predators after it, and who was caught [S, N]."""
        ...

    def sense(self, swarm: SwarmState, distance: Tensor, statistics: Tensor | None, out: Tensor) -> None:
        """Write the observations [S, N, 11 or 18]; the last 7 only if there are statistics of neighbours [S, N, 7]."""
        ...

    def pay(
        self,
        swarm: SwarmState,
        distance: Tensor,
        caught: Tensor,
        statistics: Tensor | None,
        density_penalty: float,
    ) -> Tensor:
        """[S, N]; nothing for those who were dead before; for neighbours only if there are statistics of them."""
        ...

    def tally(self, swarm: SwarmState, reward: Tensor, caught: Tensor) -> tuple[Tensor, Tensor]:
        """Note when the caught died; what each school was paid ([S] float64) and how many of it live ([S] int64)."""
        ...


def make_tank(config: FishConfig, device: torch.device) -> Tank:
    """The way that suits the device."""
    native = kernels.compiled(device)
    return TorchTank(config) if native is None else CompiledTank(config, native)


class TorchTank:
    """In torch alone, on any device."""

    def __init__(self, config: FishConfig) -> None:
        self._config = config

    def move(self, swarm: SwarmState, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Move everybody."""
        shape = swarm.alive.shape
        x, y, vx, vy = swarm.fish
        if self._config.steering == "discrete":
            velocity = steer((vx, vy), actions.view(shape))
        else:
            turn, effort = actions.clamp(-1.0, 1.0).view(*shape, 2).unbind(-1)
            velocity = steer_freely((vx, vy), turn, effort)
        moved = torch.stack(swim((x, y), velocity))
        swarm.fish = torch.where(swarm.alive, moved, swarm.fish)
        swarm.predator = torch.stack(fall(swarm.predator))
        distance = distances(swarm.fish, swarm.predator)
        caught = catches(distance, swarm.alive)
        swarm.alive = swarm.alive & ~caught
        return distance, caught

    def sense(self, swarm: SwarmState, distance: Tensor, statistics: Tensor | None, out: Tensor) -> None:
        """Write the observations."""
        look(swarm.fish, swarm.predator, distance, swarm.alive, out)
        if statistics is not None:
            feel(statistics, self._config.neighbour_count, out)

    def pay(
        self,
        swarm: SwarmState,
        distance: Tensor,
        caught: Tensor,
        statistics: Tensor | None,
        density_penalty: float,
    ) -> Tensor:
        """[S, N]."""
        rewards = self._config.rewards
        paid = pay(rewards, swarm.fish, distance)
        if statistics is not None:
            paid = paid + crowding(self._config, density_penalty, statistics)
        return torch.where(swarm.alive, rewards.scale * paid, 0.0) - rewards.death * caught

    def tally(self, swarm: SwarmState, reward: Tensor, caught: Tensor) -> tuple[Tensor, Tensor]:
        """Note when the caught died; what each school was paid and how many of it live."""
        swarm.death_steps = torch.where(caught, swarm.steps[:, None], swarm.death_steps)
        return reward.sum(1, dtype=torch.float64), swarm.alive.sum(1)


class CompiledTank:
    """In C++, with as many threads as torch has; fish, predators and lives change in place."""

    def __init__(self, config: FishConfig, native: ModuleType) -> None:
        self._config = config
        self._native = native
        self._density_penalty = 0.0
        self._prices = self._priced(0.0)

    def move(self, swarm: SwarmState, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Move everybody."""
        shape = swarm.alive.shape
        if self._config.steering == "discrete":
            orders = actions.to(torch.int64).contiguous().view(shape)
        else:
            orders = actions.to(torch.float32).contiguous().view(*shape, 2)
        distance, caught = torch.empty(shape), torch.empty(shape, dtype=torch.bool)
        threads = torch.get_num_threads()
        self._native.step(swarm.fish, swarm.predator, swarm.alive, orders, distance, caught, threads)
        return distance, caught

    def sense(self, swarm: SwarmState, distance: Tensor, statistics: Tensor | None, out: Tensor) -> None:
        """Write the observations."""
        self._native.look(
            swarm.fish,
            swarm.predator,
            distance,
            swarm.alive,
            out,
            statistics,
            self._config.neighbour_count,
            torch.get_num_threads(),
        )

    def pay(
        self,
        swarm: SwarmState,
        distance: Tensor,
        caught: Tensor,
        statistics: Tensor | None,
        density_penalty: float,
    ) -> Tensor:
        """[S, N]."""
        if density_penalty != self._density_penalty:
            self._density_penalty, self._prices = density_penalty, self._priced(density_penalty)
        reward, threads = torch.empty(distance.shape), torch.get_num_threads()
        self._native.pay(swarm.fish, distance, swarm.alive, caught, self._prices, reward, statistics, threads)
        return reward

    def tally(self, swarm: SwarmState, reward: Tensor, caught: Tensor) -> tuple[Tensor, Tensor]:
        """Note when the caught died; what each school was paid and how many of it live."""
        paid = torch.empty(swarm.steps.shape, dtype=torch.float64)
        living = torch.empty(swarm.steps.shape, dtype=torch.int64)
        threads = torch.get_num_threads()
        self._native.tally(reward, swarm.alive, caught, swarm.steps, swarm.death_steps, paid, living, threads)
        return paid, living

    def _priced(self, density_penalty: float) -> object:
        return self._native.Prices(
            **vars(self._config.rewards),
            crowd_count=self._config.neighbour_count,
            crowd_target=self._config.density_target,
            crowd=density_penalty,
            divergence=self._config.divergence_reward,
        )
