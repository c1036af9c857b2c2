"""How fast the fish world steps, beside a plain program that moves one fish after the other."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch

from respawn.testing.scalar_fish import ScalarSchool
from respawn.training.bench_matrix import Entry, Result, Results, Tell, measure_matrix
from respawn.training.bench_summary import cell_rows, pace, ratios
from respawn.training.bench_watch import Watch
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld, school_seeds

FISH_AT_ONCE = {"cpu": 160_000, "cuda": 4_000_000}
"""Enough that threads have something to share."""
OURS, PLAIN = "respawn", "one by one"
_WARM_STEPS = 20
_ACTION_ROWS = 8


@dataclass(frozen=True)
class FishPlan:
    """Which schools, for how long."""

    sizes: tuple[int, ...] = (25, 96)
    """fish in a school"""
    schools: int | None = None
    """stepped together; None: as many as suit the device"""
    rounds: int = 5
    seconds: float = 2.0
    """of each turn"""
    device: str = "cpu"
    """where the world is stepped; the plain program always runs on one core"""
    with_reference: bool = True
    """measure the plain program too"""


class Batched:
    """Our world, stepped with random actions for ever."""

    def __init__(self, fish: int, schools: int, seconds: float, device_name: str) -> None:
        self._device = device = resolve_device(device_name, wants_gpu=False)
        prepare_torch(device, resolve_threads(0))
        self._seconds = seconds
        self._world = FishWorld(FishConfig(fish=fish), schools * fish, device=device)
        self._world.reset(school_seeds(range(schools), fish))
        dice = torch.Generator(device=device).manual_seed(0)
        size = (_ACTION_ROWS, schools * fish)
        self._actions = torch.randint(5, size, generator=dice, device=device)
        self._step = 0
        for _ in range(_WARM_STEPS):
            self._advance()

    def turn(self) -> dict[str, Any]:
        """Step for a while; every living fish counts."""
        counts: list[torch.Tensor] = []
        self._wait()
        with Watch() as watch:
            while not counts or watch.seconds < self._seconds:
                counts.append(self._world.present().sum())
                self._advance()
                self._wait()
        return {**watch.taken, "decisions": int(torch.stack(counts).sum())}

    def close(self) -> None:
        """Leave it."""
        self._world.close()

    def _advance(self) -> None:
        self._world.step(self._actions[self._step % _ACTION_ROWS])
        self._step += 1

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


class OneByOne:
    """The plain program, stepped with random actions for ever."""

    def __init__(self, fish: int, seconds: float) -> None:
        self._seconds = seconds
        self._school = ScalarSchool(FishConfig(fish=fish, generator="numpy"))
        self._dice = random.Random(0)
        self._episodes = 0
        self._school.reset(0)

    def turn(self) -> dict[str, Any]:
        """Step for a while; every living fish counts."""
        moved = 0
        with Watch() as watch:
            while not moved or watch.seconds < self._seconds:
                living = sum(self._school.alive)
                _, _, over, _ = self._school.step([self._dice.randrange(5) for _ in range(living)])
                moved += living
                if over:
                    self._episodes += 1
                    self._school.reset(self._episodes)
        return {**watch.taken, "decisions": moved}

    def close(self) -> None:
        """Nothing is open."""


def measure_fish(
    plan: FishPlan,
    tell: Tell = lambda doing, part: None,
    keep: Callable[[dict[str, Any]], None] = lambda measured: None,
) -> dict[str, Any]:
    """Both in turn, for schools of some sizes.

    Args:
      plan: what is to be measured.
      tell: is told what is being done, and which part of all is done.
      keep: is given all that is known so far, whenever that is more than before.
    """
    device = resolve_device(plan.device, wants_gpu=False)
    sizes = {f"schools of {fish}": fish for fish in plan.sizes}

    def about(results: Results) -> dict[str, Any]:
        return {
            "world": "fish",
            "senses": FishConfig().num_values,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "threads": resolve_threads(0),
            "rounds": plan.rounds,
            "seconds": plan.seconds,
            "sizes": {str(fish): _about(fish, results[name]) for name, fish in sizes.items() if name in results},
            "rows": [
                row
                for name, found in results.items()
                for row in cell_rows(found, name, lambda result: result.facts["mode"] == PLAIN)
            ],
        }

    cells = {name: _entries(fish, plan, device.type) for name, fish in sizes.items()}
    return about(measure_matrix(cells, plan.rounds, tell, lambda results: keep(about(results))))


def _entries(fish: int, plan: FishPlan, kind: str) -> Sequence[Entry]:
    schools = plan.schools or max(1, FISH_AT_ONCE[kind] // fish)
    threads = resolve_threads(0)
    ours = Entry(
        partial(Batched, fish, schools, plan.seconds, plan.device),
        {"mode": OURS, "num_envs": schools * fish, "threads": threads},
        threads,
    )
    plain = Entry(partial(OneByOne, fish, plan.seconds), {"mode": PLAIN, "num_envs": fish, "threads": 1})
    return [ours, plain] if plan.with_reference else [ours]


def _about(fish: int, results: Sequence[Result]) -> dict[str, Any]:
    ours, plain = results[0], next(iter(results[1:]), None)
    about: dict[str, Any] = {"fish": fish, "schools": ours.facts["num_envs"] // fish}
    if ours.turns:
        paces = [pace(turn) for turn in ours.turns]
        about |= {"fish_steps_per_second": median(paces), "spread": {"min": min(paces), "max": max(paces)}}
    if plain is not None and plain.turns:
        about["reference_fish_steps_per_second"] = median(pace(turn) for turn in plain.turns)
        if ours.turns:
            compared = ratios(ours.turns, plain.turns)
            about |= {"ratio": median(compared), "ratio_of_rounds": {"min": min(compared), "max": max(compared)}}
    return about
