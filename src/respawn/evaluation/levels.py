"""How often a policy clears a level, how far it comes, and how policies do that know nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import torch

from respawn.contracts.policy import Policy
from respawn.contracts.records import Episode
from respawn.contracts.world import World
from respawn.evaluation.episodes import play_episodes
from respawn.evaluation.intervals import mean_interval, wilson_interval
from respawn.evaluation.null_policies import FixedPolicy, RandomPolicy
from respawn.maths.seeding import make_generator
from respawn.worlds.mario.buttons import button_byte
from respawn.worlds.mario.levels import ALL_LEVELS, find_level

GREEDY, SAMPLED = "greedy", "sampled"
ALWAYS_RIGHT, RANDOM = "always_right", "random"
NULL_POLICIES = (ALWAYS_RIGHT, RANDOM)
_RIGHTS = ("RIGHT+B", "RIGHT")
"""What 'always right' holds: the first of these that can be chosen."""

SEEDS_A_LEVEL = 10_000
"""Levels' seeds are so far apart, so that no two levels share one, and none changes with what else is judged."""


@dataclass(frozen=True)
class LevelScore:
    """What some episodes in one level came to."""

    clear_rate: float
    interval: tuple[float, float]
    """of the clear rate: 95 %, by Wilson"""
    cleared: int
    episodes: int
    courses: int
    """how many different episodes there are among them; few where start and policy leave little to chance"""
    x_mean: float | None
    """how far it came, in pixels; None where no episode says so, as in all that follow"""
    x_interval: tuple[float, float] | None
    """of that mean: 95 %; None also where only one episode says so"""
    x_std: float | None
    seconds_mean: float | None
    """of the game's own time"""
    time_left_mean: float | None
    """ticks on the game's clock at the end"""
    cleared_seconds_mean: float | None
    """of the cleared episodes alone"""
    cleared_time_left_mean: float | None
    score_mean: float | None
    return_mean: float
    length_mean: float
    """decisions"""
    flags_mean: float | None
    """flagpoles and axes reached; more than one only in whole games"""
    reached: Mapping[str, int]
    """how often an episode ended in each level, the most frequent first"""
    ends: Mapping[str, int]
    """how often each reason ended an episode, the most frequent first"""


def level_seeds(level: str, seed_base: int, episodes: int) -> range:
    """The seeds that a level is judged on: no other level's, and the same whichever others are judged beside it."""
    first = seed_base + SEEDS_A_LEVEL * ALL_LEVELS.index(find_level(level))
    return range(first, first + episodes)


def play_level(
    world: World,
    policies: Mapping[str, Policy],
    seeds: range,
    *,
    limit_steps: int,
    device: torch.device,
) -> dict[str, list[Episode]]:
    """The same seeds' episodes by each policy, in the order of the seeds.

    Args:
      world: one whose episodes all begin in the level.
      policies: by their names; all but the greedy one and 'always right' draw their actions.
      seeds: one for each episode.
      limit_steps: cut episodes that are longer.
      device: where the policies compute.
    """
    played = {}
    for name, policy in policies.items():
        drawn = name not in (GREEDY, ALWAYS_RIGHT)
        generator = make_generator(seeds[0], "level", name, device=device) if drawn else None
        played[name] = play_episodes(world, policy, seeds, generator, limit_steps, device)
    return played


def null_policies(action_names: Sequence[str]) -> dict[str, Policy]:
    """Those that know nothing, for a set of actions; 'always right' is left out where no action is."""
    right = held_by_always_right(action_names)
    always_right: dict[str, Policy] = {} if right is None else {ALWAYS_RIGHT: FixedPolicy(action_names.index(right))}
    return {**always_right, RANDOM: RandomPolicy(len(action_names))}


def held_by_always_right(action_names: Sequence[str]) -> str | None:
    """Which of the actions 'always right' takes; None where none is."""
    by_buttons = {button_byte(name): name for name in reversed(action_names)}  # of two that are alike, the first
    return next((by_buttons[button_byte(name)] for name in _RIGHTS if button_byte(name) in by_buttons), None)


def score_level(episodes: Sequence[Episode]) -> LevelScore:
    """Sum up some episodes."""
    cleared = [episode for episode in episodes if episode.facts.get("cleared") == 1.0]
    x = _facts(episodes, "x")
    return LevelScore(
        clear_rate=len(cleared) / len(episodes),
        interval=wilson_interval(len(cleared), len(episodes)),
        cleared=len(cleared),
        episodes=len(episodes),
        courses=count_courses(episodes),
        x_mean=_mean(x),
        x_interval=mean_interval(x),
        x_std=_spread(x),
        seconds_mean=_mean(_facts(episodes, "seconds")),
        time_left_mean=_mean(_facts(episodes, "time_left")),
        cleared_seconds_mean=_mean(_facts(cleared, "seconds")),
        cleared_time_left_mean=_mean(_facts(cleared, "time_left")),
        score_mean=_mean(_facts(episodes, "score")),
        return_mean=fmean(episode.episode_return for episode in episodes),
        length_mean=fmean(episode.length for episode in episodes),
        flags_mean=_mean(_facts(episodes, "flags")),
        reached=dict(Counter(str(e.facts["reached"]) for e in episodes if "reached" in e.facts).most_common()),
        ends=dict(Counter(episode.end for episode in episodes).most_common()),
    )


def count_courses(episodes: Sequence[Episode]) -> int:
    """How many of the episodes differ from one another."""
    return len({(e.end, e.length, e.episode_return, *sorted(e.facts.items())) for e in episodes})


def _facts(episodes: Sequence[Episode], name: str) -> list[float]:
    """A number of each episode that says it."""
    return [float(episode.facts[name]) for episode in episodes if name in episode.facts]


def _spread(values: Sequence[float]) -> float | None:
    return (stdev(values) if len(values) > 1 else 0.0) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
