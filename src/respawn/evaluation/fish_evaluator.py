"""Judging a policy for fish while it learns: whole schools, beside those that have learned nothing."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.policy import Policy
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import EvaluationReport, Probe
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.episodes import PREPARE
from respawn.evaluation.fish_policies import EVADER, null_policies
from respawn.evaluation.fish_report import probe_facts, summarise_schools
from respawn.evaluation.schools import SchoolRecord, play_schools, reference_seeds
from respawn.maths.seeding import make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld

SCHOOLS_AT_A_TIME = 100


class FishEvaluator:
    """Plays the same schools whenever it is asked; what it remembers of null policies only saves playing them again."""

    def __init__(
        self,
        world: FishConfig,
        model: ActorCritic,
        config: EvaluationConfig,
        device: torch.device,
        pulse: Pulse = NO_PULSE,
    ) -> None:
        self._judged = world.as_judged(world.judged_fish)
        self._model = model.eval()
        self._config = config
        self._device = device
        self._pulse = pulse
        self._world: FishWorld | None = None
        self._nulls: tuple[Any, dict[str, dict[str, float]]] | None = None

    def evaluate(self, weights: Weights, clock: Clock, knobs: Knobs) -> EvaluationReport:
        """Judge `weights` in schools that begin as fast, and are as crowded, as the knobs say."""
        began = perf_counter()
        records = self.play(weights, clock, knobs)
        metrics = summarise_schools(records, self._judged.limit_steps)
        nulls = self._null_policies(clock, knobs)
        metrics["evaluation/null_survival_best"] = max(
            numbers["survival_mean"] for name, numbers in nulls.items() if name != EVADER
        )
        facts = probe_facts(records, self._judged.limit_steps, self._circumstances(knobs))
        facts["null_policies"] = nulls
        metrics["time/evaluation_seconds"] = perf_counter() - began
        probe = Probe(clock.updates, clock.decisions, facts)
        return EvaluationReport(clock.updates, clock.decisions, metrics, probe)

    def play(self, weights: Weights, clock: Clock, knobs: Knobs) -> list[SchoolRecord]:
        """The schools that `evaluate` sums up, in the order of their seeds."""
        self._pulse.mark(PREPARE)
        self._model.load_state_dict(dict(weights.tensors))
        config = self._config
        generator = None if config.greedy else make_generator(config.seed_base, "evaluation", device=self._device)
        world = self._ready(knobs)
        watch = partial(_mark, self._pulse)
        return play_schools(world, self._model, self.seeds(clock), generator, self._device, watch)

    def seeds(self, clock: Clock) -> Sequence[int]:
        """What this update's evaluation plays."""
        config = self._config
        if self._judged.judged_seeds == "consecutive":
            return range(config.seed_base, config.seed_base + config.episodes)
        number = max(clock.updates // max(config.every_updates, 1) - 1, 0)
        return reference_seeds(config.seed_base, number * config.episodes, config.episodes)

    def close(self) -> None:
        """Give the world back, if one was made."""
        self._world = None

    def _ready(self, knobs: Knobs) -> FishWorld:
        if self._world is None:
            schools = min(self._config.episodes, SCHOOLS_AT_A_TIME)
            self._world = FishWorld(self._judged, schools * self._judged.fish, device=self._device)
        self._world.apply(judging_knobs(self._judged, knobs))
        return self._world

    def _circumstances(self, knobs: Knobs) -> dict[str, Any]:
        return {
            "greedy": self._config.greedy,
            "escape_boost_speed": knobs.values.get("escape_boost", self._judged.escape_boost_speed),
            "density_penalty_coef": knobs["density_penalty"],
        }

    def _null_policies(self, clock: Clock, knobs: Knobs) -> dict[str, dict[str, float]]:
        """What those reach that learn nothing, in the very schools of this evaluation.

        Those of an earlier one would not do: a resumed run, which did not see it, would say something else.
        """
        seeds = tuple(self.seeds(clock))
        schools = (seeds, judging_knobs(self._judged, knobs).values)
        if self._nulls is None or self._nulls[0] != schools:
            self._nulls = schools, play_null_policies(self._judged, seeds, knobs, self._device, self._pulse)
        return self._nulls[1]


def _mark(pulse: Pulse, world: FishWorld) -> None:
    """A step was made."""
    pulse.mark("evaluate")


def play_null_policies(
    world: FishConfig, seeds: Sequence[int], knobs: Knobs | None, device: torch.device, pulse: Pulse = NO_PULSE
) -> dict[str, dict[str, float]]:
    """Summaries of all null policies, by name, without the group before the metrics' names."""
    pulse.mark(PREPARE)
    # Senses of neighbours are what takes longest, and none of them uses any.
    plain = FishWorld(_plain(world), min(len(seeds), SCHOOLS_AT_A_TIME) * world.fish, device=device)
    if knobs is not None:
        plain.apply(judging_knobs(world, knobs))
    found: dict[str, dict[str, float]] = {}
    policies: dict[str, Policy] = null_policies()
    for name, policy in policies.items():
        generator = make_generator(seeds[0], "null", name, device=device) if name == "random" else None
        records = play_schools(plain, policy, seeds, generator, device, partial(_mark, pulse))
        metrics = summarise_schools(records, world.limit_steps)
        found[name] = {metric.removeprefix("evaluation/"): value for metric, value in metrics.items()}
    return found


def judging_knobs(world: FishConfig, knobs: Knobs) -> Knobs:
    """The knobs of a run as they are for judging: full schools, and no starts that are given."""
    return Knobs(
        knobs.version,
        {
            "school_size": world.fish,
            "escape_boost": knobs.values.get("escape_boost", world.escape_boost_speed),
            "density_penalty": knobs["density_penalty"],
            "hard_start_share": 0.0,
        },
    )


def _plain(world: FishConfig) -> FishConfig:
    return replace(world, steering="discrete", neighbours=False)
