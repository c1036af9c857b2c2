"""How fast the fish world steps, beside a plain program that moves one fish after the other."""

import random
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch

from respawn.runs.metadata import describe_machine
from respawn.testing.scalar_fish import ScalarSchool
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld, school_seeds

FISH_AT_ONCE = {"cpu": 160_000, "cuda": 4_000_000}
"""Enough that threads have something to share."""
_WARM_STEPS = 20
_ACTION_ROWS = 8


class Batched:
    """Our world, stepped with random actions for ever."""

    def __init__(self, fish: int, schools: int, device: torch.device) -> None:
        self._device = device
        self._world = FishWorld(FishConfig(fish=fish), schools * fish, device=device)
        self._world.reset(school_seeds(range(schools), fish))
        dice = torch.Generator(device=device).manual_seed(0)
        size = (_ACTION_ROWS, schools * fish)
        self._actions = torch.randint(5, size, generator=dice, device=device)
        self._step = 0
        for _ in range(_WARM_STEPS):
            self._advance()

    def _advance(self) -> None:
        self._world.step(self._actions[self._step % _ACTION_ROWS])
        self._step += 1

    def pace(self, seconds: float) -> float:
        """Living fish that were moved in a second."""
        counts = []
        self._wait()
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            counts.append(self._world.present().sum())
            self._advance()
            self._wait()
        return float(torch.stack(counts).sum()) / (time.perf_counter() - began)

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


class OneByOne:
    """The plain program, stepped with random actions for ever."""

    def __init__(self, fish: int) -> None:
        self._school = ScalarSchool(FishConfig(fish=fish, generator="numpy"))
        self._dice = random.Random(0)
        self._episodes = 0
        self._school.reset(0)

    def pace(self, seconds: float) -> float:
        """Living fish that were moved in a second."""
        moved = 0
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            living = sum(self._school.alive)
            _, _, over, _ = self._school.step([self._dice.randrange(5) for _ in range(living)])
            moved += living
            if over:
                self._episodes += 1
                self._school.reset(self._episodes)
        return moved / (time.perf_counter() - began)


def measure_fish(
    sizes: Sequence[int],
    *,
    schools: int | None = None,
    rounds: int = 5,
    seconds: float = 2.0,
    device_name: str = "cpu",
    with_reference: bool = True,
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> dict[str, Any]:
    """Both in turn, for schools of some sizes.

    Args:
      sizes: fish in a school.
      schools: stepped together; None: as many as suit the device.
      rounds: how often each is measured.
      seconds: how long, each time.
      device_name: where the world is stepped; the plain program always runs on one core.
      with_reference: measure the plain program too.
      tell: is told what is being done, and which part of all is done.
    """
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, resolve_threads(0))
    machine = describe_machine()
    rows: dict[str, Any] = {}
    for place, fish in enumerate(sizes):
        count = schools or max(1, FISH_AT_ONCE[device.type] // fish)
        ours, plain = Batched(fish, count, device), OneByOne(fish) if with_reference else None
        paces: list[float] = []
        plain_paces: list[float] = []
        for number in range(rounds):
            tell(f"schools of {fish}", (place + number / rounds) / len(sizes))
            paces.append(ours.pace(seconds))
            if plain is not None:
                plain_paces.append(plain.pace(seconds))
        rows[str(fish)] = _row(fish, count, paces, plain_paces)
    return {
        "world": "fish",
        "senses": FishConfig().num_values,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "rounds": rounds,
        "seconds": seconds,
        "sizes": rows,
        "machine": {name: machine[name] for name in ("cpu", "cores", "torch")},
    }


def _row(fish: int, schools: int, paces: list[float], plain_paces: list[float]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "fish": fish,
        "schools": schools,
        "fish_steps_per_second": median(paces),
        "spread": {"min": min(paces), "max": max(paces)},
    }
    if plain_paces:
        ratios = [ours / plain for ours, plain in zip(paces, plain_paces, strict=True)]
        row |= {
            "reference_fish_steps_per_second": median(plain_paces),
            "ratio": median(ratios),
            "ratio_of_rounds": {"min": min(ratios), "max": max(ratios)},
        }
    return row
