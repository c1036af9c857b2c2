"""Episodes played to find hard starts: shortly before the places where a policy dies.

They have seeds of their own, new ones for every evaluation: what training is dealt must not be what it is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Generator

from respawn.contracts.policy import Policy
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Episode
from respawn.contracts.world import World
from respawn.evaluation.config import ScoutConfig
from respawn.evaluation.episodes import PREPARE
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.hard_starts import HardStart
from respawn.worlds.mario.levels import Level, find_level
from respawn.worlds.mario.limits import DEATH, PIT

DEATHS = frozenset({DEATH, PIT})
PLACE_PIXELS = 64
"""Deaths within so many pixels are at one place."""


@runtime_checkable
class TellsButtons(Protocol):
    """A world that says what was really held."""

    def last_buttons(self, lane: int) -> int:
        """In a lane's last step."""
        ...

    def waited_frames(self, lane: int) -> int:
        """Before a lane's episode began."""
        ...


@dataclass(frozen=True)
class Course:
    """An episode, and all that it takes to play it again."""

    seed: int
    waited: int
    held: tuple[int, ...]
    episode: Episode


@torch.no_grad()
def play_courses(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    device: torch.device,
    pulse: Pulse = NO_PULSE,
) -> list[Course]:
    """The first episode from each seed; those that are longer than the limit are left out."""
    courses: list[Course] = []
    for first in range(0, len(seeds), world.spec.num_lanes):
        courses += _play_batch(
            world, policy, seeds[first : first + world.spec.num_lanes], generator, limit_steps, device, pulse
        )
    return courses


def _play_batch(
    world: World,
    policy: Policy,
    seeds: Sequence[int],
    generator: Generator | None,
    limit_steps: int,
    device: torch.device,
    pulse: Pulse,
) -> list[Course]:
    assert isinstance(world, TellsButtons)
    num_lanes = world.spec.num_lanes
    pulse.mark(PREPARE)
    observation = world.reset([*seeds, *[seeds[-1]] * (num_lanes - len(seeds))])
    memory = policy.initial_memory(num_lanes)
    waited = [world.waited_frames(lane) for lane in range(len(seeds))]
    held: list[list[int]] = [[] for _ in seeds]
    ended: dict[int, Episode] = {}
    for _ in range(limit_steps):
        pulse.mark("evaluate")
        decision = policy.act(observation.to(device), memory, generator)
        memory = decision.memory
        result = world.step(decision.actions.to(observation.device))
        observation = result.observation
        for lane in range(len(seeds)):
            if lane not in ended:
                held[lane].append(world.last_buttons(lane))
        for episode in result.episodes:
            ended.setdefault(episode.lane, episode)
        if all(lane in ended for lane in range(len(seeds))):
            break
    return [
        Course(seeds[lane], waited[lane], tuple(held[lane]), ended[lane]) for lane in sorted(ended) if lane < len(seeds)
    ]


def worst_starts(courses: Sequence[Course], scout: ScoutConfig, world: MarioConfig) -> list[dict[str, Any]]:
    """Starts shortly before deaths, as a harvest takes them: from each place in turn, the deadliest place first."""
    places: dict[int, list[dict[str, Any]]] = {}
    for number, course in enumerate(courses):
        if course.episode.end not in DEATHS:
            continue
        before = scout.nearest_steps + course.seed % (scout.farthest_steps - scout.nearest_steps + 1)
        if before >= len(course.held):  # that is where the level begins
            continue
        level, x = str(course.episode.facts["level"]), float(course.episode.facts["end_x"])
        start = HardStart(find_level(level), course.waited, course.held[:-before])
        place = _place(start.level, x)
        entry: dict[str, Any] = {
            "episode": number,
            "seed": course.seed,
            "state": start.state(world),
            "x": x,
            "place": place,
        }
        places.setdefault(place, []).append(entry)
    by_deaths = sorted(places.values(), key=len, reverse=True)  # among equals, those that were found first
    for entries in by_deaths:
        for entry in entries:
            where = {name: entry.pop(name) for name in ("x", "place")}
            entry["features"] = {**where, "difficulty": len(entries) / len(courses)}
    rounds = max((len(entries) for entries in by_deaths), default=0)
    return [entries[turn] for turn in range(rounds) for entries in by_deaths if turn < len(entries)]


def _place(level: Level, x: float) -> int:
    """A number for where somebody died: world, stage and how many places to the right, as in 1-2 at 640: 12010."""
    return (level.world * 10 + level.stage) * 1000 + int(x) // PLACE_PIXELS
