"""Judging weights: a world of its own, fixed seeds, nothing carried over from one judgement to the next."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from time import perf_counter

import numpy as np
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Episode, EvaluationReport
from respawn.contracts.world import World
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.episodes import NOT_WHOLE, PREPARE, play_episodes
from respawn.maths.seeding import make_generator
from respawn.models.actor_critic import ActorCritic


class Evaluator:
    """Plays the same episodes whenever it is asked. It remembers nothing, so there is nothing to save."""

    def __init__(
        self,
        make_world: Callable[[int], World],
        model: ActorCritic,
        config: EvaluationConfig,
        device: torch.device,
        pulse: Pulse = NO_PULSE,
    ) -> None:
        self._make_world = make_world
        self._pulse = pulse
        self._model = model.eval()
        self._config = config
        self._device = device
        self._world: World | None = None

    def evaluate(self, weights: Weights, clock: Clock, knobs: Knobs) -> EvaluationReport:
        """Judge `weights`, in a world that no knob changes."""
        began = perf_counter()
        metrics = summarise(self.play(weights))
        metrics["time/evaluation_seconds"] = perf_counter() - began
        return EvaluationReport(update=clock.updates, decisions=clock.decisions, metrics=metrics)

    def play(self, weights: Weights) -> list[Episode]:
        """The episodes that `evaluate` sums up, in the order of their seeds."""
        config = self._config
        self._pulse.mark(PREPARE)
        if self._world is None:
            self._world = self._make_world(min(config.num_lanes, config.episodes))
        self._model.load_state_dict(dict(weights.tensors))
        seeds = range(config.seed_base, config.seed_base + config.episodes)
        generator = None if config.greedy else make_generator(config.seed_base, "evaluation", device=self._device)
        return play_episodes(self._world, self._model, seeds, generator, config.limit_steps, self._device, self._pulse)

    def close(self) -> None:
        """Close the world, if one was made."""
        if self._world is not None:
            self._world.close()
            self._world = None


def summarise(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return and length over some episodes, with a 95 % interval of the mean return, and the means of their facts."""
    returns = [episode.episode_return for episode in episodes]
    mean = fmean(returns)
    spread = float(np.std(returns, ddof=1)) if len(returns) > 1 else 0.0
    margin = 1.96 * spread / math.sqrt(len(returns))
    metrics = {
        "evaluation/return_mean": mean,
        "evaluation/return_std": spread,
        "evaluation/return_min": min(returns),
        "evaluation/return_max": max(returns),
        "evaluation/return_low": mean - margin,
        "evaluation/return_high": mean + margin,
        "evaluation/length_mean": fmean(episode.length for episode in episodes),
        "evaluation/episodes": float(len(episodes)),
        "evaluation/unfinished": float(sum(episode.end in NOT_WHOLE for episode in episodes)),
    }
    # By these runs are judged and ended: a fact that is called the same replaces none of them.
    return {**metrics, **{name: mean for name, mean in _facts(episodes).items() if name not in metrics}}


def _facts(episodes: Sequence[Episode]) -> dict[str, float]:
    """The mean of each number that the world has to say of every one of the episodes."""
    numbers = [
        {name: fact for name, fact in episode.facts.items() if not isinstance(fact, str)} for episode in episodes
    ]
    shared = [name for name in numbers[0] if all(name in others for others in numbers)]
    return {f"evaluation/{name}": fmean(facts[name] for facts in numbers) for name in shared}
