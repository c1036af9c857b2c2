"""A run: its parts by name, and which of them are saved."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import torch

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import WEIGHTS, Found, check_identity, restore
from respawn.contracts.clock import Clock
from respawn.contracts.collector import Collector, CollectOrder
from respawn.contracts.learner import Learner
from respawn.contracts.records import EvaluationReport, Record, Rollout, UpdateReport
from respawn.contracts.saveable import Saveable, StateTree
from respawn.contracts.world import WorldSpec
from respawn.errors import CheckpointWriteError
from respawn.evaluation.evaluator import Evaluator
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.learners.trainee import ModelWeights
from respawn.memory.rollouts import rollout_from_state, rollout_state
from respawn.observers.hub import ObserverHub
from respawn.schedules.director import Director
from respawn.training.cadence import Cadence
from respawn.training.cold_start import said_aloud
from respawn.training.periodic_films import PeriodicFilms
from respawn.training.reporter import Reporter

ROW_STREAMS = frozenset({"updates", "episodes", "evaluations", "probes", "rulings"})
"""Observers whose files a resumed run continues exactly."""


class Pending:
    """The rollout that has been gathered and not yet learned from; with lag 0 there is none between updates."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.rollout: Rollout | None = None

    def state(self) -> StateTree:
        """The rollout, if there is one."""
        return {"rollout": None if self.rollout is None else rollout_state(self.rollout)}

    def restore(self, state: StateTree) -> None:
        """The rollout again."""
        saved = state["rollout"]
        self.rollout = None if saved is None else rollout_from_state(saved, self._device)


class WholeRows:
    """The observers as a part of a checkpoint, which may count on every row before it having been written."""

    def __init__(self, observers: ObserverHub) -> None:
        self._observers = observers

    def state(self) -> StateTree:
        """The observers' states; raises CheckpointWriteError where a stream of rows has failed.

        Going on from such a checkpoint would leave a hole in the rows for ever. From the one before, they are made
        again.
        """
        state = self._observers.state()
        for failure in self._observers.failures:
            if failure.observer in ROW_STREAMS:
                raise CheckpointWriteError(
                    f"no checkpoint is written because rows before it are missing ({failure}); "
                    "make room, then resume the run, and they are made again"
                )
        return state

    def restore(self, state: StateTree) -> None:
        """Set the observers back."""
        self._observers.restore(state)


@dataclass
class Run:
    """All the parts of a run. Nothing that matters to its future is anywhere else."""

    lag: int
    world: WorldSpec
    clock: Clock
    collector: Collector
    learner: Learner
    weights: ModelWeights
    director: Director
    evaluator: Evaluator | FishEvaluator
    observers: ObserverHub
    cadence: Cadence
    reporter: Reporter
    checkpointer: Checkpointer
    pending: Pending
    films: PeriodicFilms
    judged: EvaluationReport | None = None
    """the evaluation of the current weights, if there was one"""
    at_boundary: bool = True
    """whether all parts agree on the same update, so that they may be saved together"""
    seconds: dict[str, float] = field(default_factory=dict)
    """how long each phase of the loop took, since the last report"""

    @property
    def parts(self) -> dict[str, Saveable]:
        """Everything that a checkpoint holds, by the name of its file."""
        return {
            WEIGHTS: self.weights,
            "learner": self.learner,
            "collector": self.collector,
            "pending": self.pending,
            "director": self.director,
            "reporter": self.reporter,
            "cadence": self.cadence,
            "clock": self.clock,
            "observers": WholeRows(self.observers),
        }

    def order(self) -> CollectOrder:
        """What the next rollout is to be gathered with."""
        return CollectOrder(self.learner.weights(), self.director.knobs(self.clock))

    def consider(self, report: UpdateReport | EvaluationReport) -> None:
        """Let the schedules know, and the observers what they make of it."""
        for ruling in self.director.observe(report):
            self.tell(ruling)
            for event in said_aloud(ruling):
                self.tell(event)

    def tell(self, record: Record) -> None:
        """Let the observers know."""
        self.observers.receive(record)

    def judge(self) -> None:
        """Evaluate the weights if it is time to."""
        self.judged = None
        if self.cadence.evaluation_due(self.clock):
            with self.timed("evaluate"):
                self.judged = self.evaluator.evaluate(
                    self.learner.weights(), self.clock, self.director.knobs(self.clock)
                )
            self.cadence.judged(self.judged)
            self.tell(self.judged)
            if self.judged.probe is not None:
                self.tell(self.judged.probe)
            self.consider(self.judged)

    def film(self) -> None:
        """Film the weights that were judged if it is time to; after saving, for a film takes seconds."""
        if self.judged is not None and self.films.due(self.clock):
            if self.cadence.unsaved(self.clock):
                self.save()
            with self.timed("film"):
                self.films.film(self.learner.weights(), self.clock, self.judged)

    def make_up(self) -> None:
        """Judge and save an update whose evaluation failed before the run was resumed; mostly there is none."""
        self.judge()
        if self.judged is not None:
            self.save()
            self.film()

    def save(self) -> None:
        """Write a checkpoint. Only at an update's boundary, when nothing is in flight."""
        metrics = self.judged.metrics if self.judged is not None else {}
        with self.timed("checkpoint"):
            self.checkpointer.save(self.parts, self.clock, metrics)
        self.cadence.saved(self.clock)

    def restore(self, found: Found) -> None:
        """Go on from a checkpoint, all or nothing."""
        check_identity(found, self.checkpointer.identity)
        restore(found, self.parts)
        self.cadence.saved(self.clock)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Count the time inside towards `phase`."""
        began = perf_counter()
        yield
        self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - began

    def taken_seconds(self) -> dict[str, float]:
        """The time counted since this was last asked."""
        taken, self.seconds = self.seconds, {}
        return taken

    def close(self) -> None:
        """Give everything back, whatever fails on the way; what is in flight is dropped."""
        with ExitStack() as closing:
            closing.callback(self.observers.close)
            closing.callback(self.evaluator.close)
            closing.callback(self.collector.close)
