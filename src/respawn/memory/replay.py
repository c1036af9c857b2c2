"""Prioritised replay of segments (Schaul et al. 2016, https://arxiv.org/abs/1511.05952): kept, drawn, weighed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from respawn.contracts.records import Event, Rollout
from respawn.contracts.saveable import StateTree
from respawn.maths.seeding import generator_state, restore_generator
from respawn.memory.priorities import UNITS, importance_weights, to_masses
from respawn.memory.replay_config import ReplayConfig
from respawn.memory.sampler_choice import ChosenSampler
from respawn.memory.segments import Segments

MOST_RANKED = 65_536
"""Priorities that percentiles are taken of, evenly spread over all: ranking a million would take longer than a draw."""


class Replayed(NamedTuple):
    """Segments that were drawn."""

    segments: Rollout  # one a lane
    weights: Tensor  # [B] at most 1, on the model's device
    slots: "np.ndarray[tuple[int], np.dtype[np.int64]]"  # [B] where they are kept


class PrioritisedReplay:
    """Segments and their priorities. Dice of its own, on the CPU, so that drawing disturbs nobody else's."""

    def __init__(
        self,
        config: ReplayConfig,
        device: torch.device,
        generator: Generator,
        notify: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._config = config
        self._device = device
        self._generator = generator
        self._notify = notify
        self._segments = Segments(config, device, notify)
        self._sampler: ChosenSampler | None = None
        self._pushed_decisions = 0
        self._last_unique = 0.0
        self._unique_sum, self._num_draws = 0.0, 0
        self._age = 0.0
        self._seconds: dict[str, float] = {}

    @property
    def can_draw(self) -> bool:
        """Whether there is enough for one replay."""
        return self._segments.stored >= self._config.segments

    def push(self, rollout: Rollout, errors: Tensor) -> None:
        """Keep every lane of a rollout in which anybody decided; `errors` [B] are their mean absolute errors."""
        with self._timed("push"):
            if self._segments.capacity == 0:
                self._segments.allocate(rollout)
                self._sampler = self._new_sampler()
            lanes = rollout.valid.any(0).cpu().nonzero().squeeze(1)
            slots = self._segments.push(rollout, lanes)
            self._pushed_decisions += int(rollout.valid.sum())
        self._assign(slots, errors[lanes.to(errors.device)])

    def draw(self, beta: float, version: int) -> Replayed:
        """Segments by their priorities, with weights that undo the choice as far as `beta`, 0 to 1, says.

        Args:
          beta: how far.
          version: of the weights that learn from them, by which their age is told.
        """
        assert self._sampler is not None and self.can_draw
        with self._timed("draw"):
            uniforms = torch.rand(self._config.segments, dtype=torch.float64, generator=self._generator)
            drawn = self._sampler.draw(uniforms)
            weights = importance_weights(drawn.masses, drawn.total, self._segments.stored, beta)
            slots = drawn.slots.cpu().numpy()
        with self._timed("gather"):
            segments = self._segments.gather(slots)
        self._last_unique = len(np.unique(slots)) / len(slots)
        self._unique_sum += self._last_unique
        self._num_draws += 1
        self._age = version - self._segments.mean_birth(slots)
        return Replayed(segments, weights, slots)

    def reprioritise(self, replayed: Replayed, errors: Tensor) -> None:
        """Give segments that were drawn the priorities of their errors [B] now; before anything is pushed."""
        slots, first = np.unique(replayed.slots, return_index=True)  # one drawn twice counts as it was drawn first
        self._assign(slots, errors[torch.from_numpy(first).to(errors.device)])

    def _assign(self, slots: "np.ndarray[Any, np.dtype[np.int64]]", errors: Tensor) -> None:
        assert self._sampler is not None
        with self._timed("priorities"):
            config, capacity = self._config, self._segments.capacity
            self._sampler.assign(
                slots, to_masses(errors, alpha=config.alpha, epsilon=config.epsilon, capacity=capacity)
            )

    def statistics(self, *, drawn: bool) -> dict[str, float]:
        """What there is to know after an update; `drawn` says whether it replayed anything."""
        stored, steps = self._segments.stored, self._segments.num_steps
        priorities = np.zeros(1)
        if self._sampler is not None and stored > 0:
            priorities = self._sampler.masses(stored)[:: -(-stored // MOST_RANKED)] / UNITS
        p50, p90, p99 = np.percentile(priorities, (50, 90, 99))
        return {
            "replay/fill": stored / max(self._segments.capacity, 1),
            "replay/capacity": float(self._segments.capacity * steps),
            "replay/pushed": float(self._pushed_decisions),
            "replay/sampled": float(drawn),
            "replay/unique": self._last_unique if drawn else 0.0,
            "replay/unique_mean": self._unique_sum / max(self._num_draws, 1),
            "replay/age": self._age if drawn else 0.0,
            "replay/priority_mean": float(priorities.mean()),
            "replay/priority_p50": float(p50),
            "replay/priority_p90": float(p90),
            "replay/priority_p99": float(p99),
        }

    def taken_seconds(self) -> dict[str, float]:
        """The time of each stage since this was last asked, and whether the device's sampler draws now."""
        taken, self._seconds = self._seconds, {}
        return {
            "time/replay_push_seconds": taken.get("push", 0.0),
            "time/replay_draw_seconds": taken.get("draw", 0.0),
            "time/replay_gather_seconds": taken.get("gather", 0.0),
            "time/replay_priorities_seconds": taken.get("priorities", 0.0),
            "time/replay_on_device": float(self._sampler is not None and self._sampler.on_device),
        }

    def state(self) -> StateTree:
        """Segments, priorities, dice and counts. Who draws is not part of it: both samplers draw the same."""
        masses = None if self._sampler is None else self._sampler.masses(self._segments.stored).copy()
        return {
            "segments": self._segments.state(),
            "masses": masses,
            "generator": generator_state(self._generator),
            "pushed_decisions": self._pushed_decisions,
            "unique_sum": self._unique_sum,
            "num_draws": self._num_draws,
        }

    def restore(self, state: StateTree) -> None:
        """Take them up again."""
        self._segments.restore(state["segments"])
        self._sampler = None
        if state["masses"] is not None:
            self._sampler = self._new_sampler()
            self._sampler.assign(np.arange(self._segments.stored), torch.from_numpy(np.array(state["masses"])))
        restore_generator(self._generator, state["generator"])
        self._pushed_decisions = state["pushed_decisions"]
        self._unique_sum, self._num_draws = state["unique_sum"], state["num_draws"]

    def _new_sampler(self) -> ChosenSampler:
        config = self._config
        return ChosenSampler(
            config.sampler,
            self._segments.capacity,
            self._device,
            fallback_ms=config.fallback_ms,
            notify=self._notify,
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + perf_counter() - began
