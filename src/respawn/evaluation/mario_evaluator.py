"""Judging weights in the Mario world: level by level, and, if asked to, finding where they die."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from time import perf_counter

import numpy as np
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Episode, EvaluationReport, Probe
from respawn.contracts.world import World
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.episodes import PREPARE
from respawn.evaluation.evaluator import Evaluator, summarise
from respawn.evaluation.scouts import play_courses, worst_starts
from respawn.maths.seeding import make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.worlds.mario.chance import STARTS, choose
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.level_window import open_levels

_OF_OPEN_LEVELS = ("evaluation/cleared_open", "evaluation/cleared_open_worst")


class MarioEvaluator(Evaluator):
    """Plays the same episodes whenever it is asked, in all levels; and others, in those that are open, to scout."""

    def __init__(
        self,
        world: MarioConfig,
        make_world: Callable[[int], World],
        model: ActorCritic,
        config: EvaluationConfig,
        device: torch.device,
        pulse: Pulse = NO_PULSE,
    ) -> None:
        super().__init__(make_world, model, config, device, pulse)
        self._mario = world
        self._scouted: World | None = None

    def evaluate(self, weights: Weights, clock: Clock, knobs: Knobs) -> EvaluationReport:
        """Judge `weights`, in a world that no knob changes; knobs say which levels count as open."""
        began = perf_counter()
        episodes = self.play(weights)
        levels = [str(level) for level in self._mario.start_levels]
        metrics = {**summarise(episodes), **clear_rates(episodes, levels, knobs)}
        probe = self._scout(clock, knobs) if self._config.scout.episodes else None
        metrics["time/evaluation_seconds"] = perf_counter() - began
        return EvaluationReport(clock.updates, clock.decisions, metrics, probe)

    def _scout(self, clock: Clock, knobs: Knobs) -> Probe:
        """Look for deaths in the levels that are open, with the weights that were just judged."""
        config, scout = self._config, self._config.scout
        self._pulse.mark(PREPARE)
        if self._scouted is None:
            self._scouted = self._make_world(min(config.num_lanes, scout.episodes))
        self._scouted.apply(replace(knobs, values={**knobs.values, "hard_start_share": 0.0}, starts=(), scripts=()))
        seeds = scout.seeds(clock.updates // max(config.every_updates, 1))
        generator = None if scout.greedy else make_generator(seeds[0], "scouts", device=self._device)
        courses = play_courses(
            self._scouted, self._model, seeds, generator, config.limit_steps, self._device, self._pulse
        )
        found = worst_starts(courses, scout, self._mario)
        ends = [course.episode.end for course in courses]
        facts = {
            "scouts": len(courses),
            "seeds": [seeds[0], seeds[-1]],
            "ends": {end: ends.count(end) for end in dict.fromkeys(ends)},
            "worst_starts": found[: scout.episodes],
        }
        return Probe(clock.updates, clock.decisions, facts)

    def close(self) -> None:
        """Close the worlds, if any were made."""
        super().close()
        if self._scouted is not None:
            self._scouted.close()
            self._scouted = None


def clear_rates(episodes: Sequence[Episode], levels: Sequence[str], knobs: Knobs) -> dict[str, float]:
    """How often each of several levels was cleared, and how often those that are open were."""
    if len(levels) == 1:
        return {}
    cleared: Mapping[str, list[float]] = {level: [] for level in levels}
    for episode in episodes:
        cleared[str(episode.facts["level"])].append(float(episode.facts["cleared"]))
    rates = {level: fmean(found) for level, found in cleared.items() if found}
    metrics = {_metric(level): rate for level, rate in rates.items()}
    first, count = open_levels(knobs, len(levels))
    opened = [rates[level] for level in levels[first : first + count] if level in rates]
    if len(opened) == count:  # what was not played, nobody can judge
        metrics |= dict(zip(_OF_OPEN_LEVELS, (fmean(opened), min(opened)), strict=True))
    return metrics


def clear_rate_metrics(world: MarioConfig) -> tuple[str, ...]:
    """The names of all that `clear_rates` may say."""
    if len(world.start_levels) == 1:
        return ()
    return (*(_metric(str(level)) for level in world.start_levels), *_OF_OPEN_LEVELS)


def _metric(level: str) -> str:
    return f"evaluation/cleared_{level.replace('-', '_')}"


def levels_not_judged(world: MarioConfig, config: EvaluationConfig) -> list[str]:
    """Levels that none of an evaluation's episodes begins in: the dice of its seeds say so."""
    levels = [str(level) for level in world.start_levels]
    seeds = np.arange(config.seed_base, config.seed_base + config.episodes, dtype=np.uint64)
    drawn = set(choose(seeds, np.zeros_like(seeds), STARTS, len(levels)).tolist())
    return [level for place, level in enumerate(levels) if place not in drawn]
