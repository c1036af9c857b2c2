"""The dice of an episode's beginning, thrown in the reference's order. What they mean is decided in starts.py.

Two sources: NumPy's PCG64, one generator a school, as the reference seeds them, so that its recorded seeds give its
recorded episodes; and a hash of (seed, episode, place), which any device computes for many schools at once and of which
there is nothing to save but the count of episodes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.saveable import StateTree
from respawn.maths.hashing import int64_tensor, mix, uniform
from respawn.worlds.fish.config import FishConfig

PRE_ROLL_DICE = 4
_SCHOOL_SLOTS = 1 << 40
"""Where the dice of the school as a whole begin; those of its fish come before."""
_NOWHERE = 1e-5
"""A fish nearer to the centre has no outward direction of its own."""


@dataclass(frozen=True)
class Draws:
    """Numbers for K beginnings of n fish; uniform in [0, 1) unless said otherwise, all float64."""

    fish: Tensor  # [K, n, 4] angle and radius of the place, angle and speed of the velocity
    escape: Tensor  # [K, n] normal: how far off the outward direction
    outward: Tensor  # [K, n, 2] normal: the outward direction of fish that are exactly in the centre
    spawn: Tensor  # [K, 2] radius and angle of the predator's place
    heading: Tensor  # [K, 2] which sector, and where in it
    pre_roll: Tensor  # [K, P, 4] turn, scale, which speed bin, where in it
    chance: Tensor  # [K] whether the episode is to be cut by force


class Dice(Protocol):
    """Throws the numbers of beginnings."""

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin every school's sequence."""

    def throw(self, schools: Tensor, num_fish: int, given: Tensor) -> Draws:
        """The next beginnings of some schools [K] int64; `given` [K] bool: those with a velocity to begin with."""

    def state(self) -> StateTree:
        """Where each sequence is."""

    def restore(self, state: StateTree) -> None:
        """Go on from there."""


def make_dice(config: FishConfig, num_schools: int, device: torch.device) -> Dice:
    """The dice that a configuration asks for."""
    if config.generator == "numpy":
        return NumpyDice(config, num_schools, device)
    return HashDice(config, num_schools, device)


class HashDice:
    """A hash of (seed, episode, place)."""

    def __init__(self, config: FishConfig, num_schools: int, device: torch.device) -> None:
        self._pre_roll_steps = config.pre_roll_steps
        self._device = device
        self._seeds = torch.zeros(num_schools, dtype=torch.int64, device=device)
        self._episodes = torch.zeros_like(self._seeds)

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin every school's sequence."""
        self._seeds.copy_(int64_tensor(list(seeds), self._device))
        self._episodes.zero_()

    def throw(self, schools: Tensor, num_fish: int, given: Tensor) -> Draws:
        """The next beginnings of some schools."""
        where = schools.to(self._device)
        keys = mix(mix(self._seeds[where]) + self._episodes[where])  # [K]
        self._episodes[where] += 1
        fish = self._uniform(keys, 0, num_fish * 10).view(-1, num_fish, 10)
        school = self._uniform(keys, _SCHOOL_SLOTS, 5 + PRE_ROLL_DICE * self._pre_roll_steps)
        return Draws(
            fish=fish[..., :4],
            escape=_normal(fish[..., 4], fish[..., 5]),
            outward=torch.stack([_normal(fish[..., 6], fish[..., 7]), _normal(fish[..., 8], fish[..., 9])], -1),
            spawn=school[:, 0:2],
            heading=school[:, 2:4],
            chance=school[:, 4],
            pre_roll=school[:, 5:].reshape(len(schools), self._pre_roll_steps, PRE_ROLL_DICE),
        )

    def _uniform(self, keys: Tensor, first: int, count: int) -> Tensor:
        """[K, count] from each school's key."""
        return uniform(mix(keys[:, None] + torch.arange(first, first + count, device=self._device)))

    def state(self) -> StateTree:
        """Seeds and how many episodes each has begun."""
        return {"seeds": self._seeds.clone(), "episodes": self._episodes.clone()}

    def restore(self, state: StateTree) -> None:
        """Go on from there."""
        self._seeds.copy_(state["seeds"])
        self._episodes.copy_(state["episodes"])


class NumpyDice:
    """One PCG64 a school, asked in the reference's order, which leaves out whatever an option turns off."""

    def __init__(self, config: FishConfig, num_schools: int, device: torch.device) -> None:
        self._config = config
        self._device = device
        self._generators = [_pcg64(0) for _ in range(num_schools)]

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin every school's sequence."""
        self._generators = [_pcg64(seed) for seed in seeds]

    def throw(self, schools: Tensor, num_fish: int, given: Tensor) -> Draws:
        """The next beginnings of some schools."""
        thrown = [
            self._throw_one(self._generators[school], num_fish, with_velocity)
            for school, with_velocity in zip(schools.tolist(), given.tolist(), strict=True)
        ]
        columns = (np.stack(column) for column in zip(*thrown, strict=True))
        return Draws(*(torch.from_numpy(column).to(self._device) for column in columns))

    def _throw_one(self, dice: np.random.Generator, num_fish: int, given: bool) -> tuple[Any, ...]:
        config = self._config
        fish = dice.random((num_fish, 4))
        escape, outward = np.zeros(num_fish), np.zeros((num_fish, 2))
        if config.escape_boost:
            nowhere = fish[:, 1] * config.spawn_radius < _NOWHERE
            if nowhere.any():  # once in a million fish: these ask for more numbers
                for number in range(num_fish):
                    if nowhere[number]:
                        outward[number] = dice.standard_normal(2)
                    escape[number] = dice.standard_normal()
            else:
                escape = dice.standard_normal(num_fish)
        spawn = dice.random(2) if config.predator_spawn_radius > 0 else np.zeros(2)
        heading = dice.random(2) if config.heading_sectors and not given else np.zeros(2)
        asked = [
            config.pre_roll_angle_jitter > 0,
            config.pre_roll_speed_jitter > 0,
            *[bool(config.speeds) and not (given and config.keep_injected_speed)] * 2,
        ]
        pre_roll = np.zeros((config.pre_roll_steps, PRE_ROLL_DICE))
        pre_roll[:, asked] = dice.random((config.pre_roll_steps, sum(asked)))
        # The reference cuts all or none, and throws no die for it.
        chance = dice.random() if 0.0 < config.forced_reset_share < 1.0 else 0.0
        return fish, escape, outward, spawn, heading, pre_roll, chance

    def state(self) -> StateTree:
        """Each generator's state; its numbers have 128 bits, so they are written as digits."""
        return {"generators": [_as_digits(dice.bit_generator.state) for dice in self._generators]}

    def restore(self, state: StateTree) -> None:
        """Go on from there."""
        for dice, digits in zip(self._generators, state["generators"], strict=True):
            numbers = {name: int(value) for name, value in digits.items()}
            dice.bit_generator.state = {
                "bit_generator": "PCG64",
                "state": {"state": numbers["state"], "inc": numbers["inc"]},
                "has_uint32": numbers["has_uint32"],
                "uinteger": numbers["uinteger"],
            }


def _pcg64(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def _as_digits(state: Any) -> dict[str, str]:
    numbers = {**state["state"], "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}
    return {name: str(value) for name, value in numbers.items()}


def _normal(first: Tensor, second: Tensor) -> Tensor:
    """Box and Muller's normal numbers from pairs of uniform ones."""
    return (-2.0 * (1.0 - first).log()).sqrt() * (2.0 * math.pi * second).cos()
