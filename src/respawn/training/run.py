"""A run: its parts by name, and which of them are saved."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter

import torch

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import WEIGHTS, Found, check_identity, restore
from respawn.contracts.clock import Clock
from respawn.contracts.collector import Collector, CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Learner
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import EvaluationReport, Event, LearnReport, Record, Rollout, UpdateReport
from respawn.contracts.saveable import Saveable, StateTree
from respawn.contracts.world import WorldSpec
from respawn.errors import CheckpointWriteError
from respawn.evaluation.evaluator import Evaluator
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.learners.trainee import ModelWeights
from respawn.memory.rollouts import rollout_from_state, rollout_state
from respawn.observers.hub import ObserverHub
from respawn.runs.streams import ROW_STREAMS
from respawn.schedules.director import Director
from respawn.training.cadence import Cadence
from respawn.training.cold_start import said_aloud
from respawn.training.number_guard import NumberGuard
from respawn.training.periodic_films import PeriodicFilms
from respawn.training.reporter import Reporter

LADDER = "ladder"
"""The part that says on which rung of the memory ladder a checkpoint was made."""

PARTS_ADDED_LATER = frozenset({"guard", LADDER})
"""Parts that checkpoints of older versions lack; they begin afresh there."""

OF_ROLLOUTS = frozenset({"pending"})
"""Parts that hold nothing but rollouts of a certain size."""


RETURN = "evaluation/return_mean"


def _not_counted(judged: EvaluationReport) -> Event:
    message = (
        f"the evaluation after update {judged.update} came to {judged.metrics[RETURN]}, which is neither the best nor "
        "a goal: see whether the environment gives rewards that are not finite"
    )
    return Event("evaluation_not_finite", message, "warning", {"update": judged.update})


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
        """The observers' states; raises CheckpointWriteError where a stream of rows has failed."""
        state = self._observers.state()
        self.check()
        return state

    def check(self) -> None:
        """Raise CheckpointWriteError where a stream of rows has failed.

        Going on from a checkpoint that is made now would leave a hole in the rows for ever. From the one before, they
        are made again.
        """
        for failure in self._observers.failures:
            if failure.observer in ROW_STREAMS:
                raise CheckpointWriteError(
                    f"no checkpoint can be made any more because rows before it are missing ({failure}); see that the "
                    "run's folder has room and may be written to, then resume the run, and they are made again"
                )

    def restore(self, state: StateTree) -> None:
        """Set the observers back."""
        self._observers.restore(state)


class InPart:
    """A part of which not all is taken up."""

    def __init__(self, part: Saveable, take_up: Callable[[StateTree], None]) -> None:
        self._part = part
        self._take_up = take_up

    def state(self) -> StateTree:
        """All of it."""
        return self._part.state()

    def restore(self, state: StateTree) -> None:
        """Take up what can be."""
        self._take_up(state)


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
    guard: NumberGuard
    rungs_taken: Saveable
    pulse: Pulse = NO_PULSE
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
            "guard": self.guard,
            LADDER: self.rungs_taken,
            "observers": WholeRows(self.observers),
        }

    def order(self) -> CollectOrder:
        """What the next rollout is to be gathered with."""
        return CollectOrder(self.learner.weights(), self.director.knobs(self.clock))

    def learn(self, rollout: Rollout, knobs: Knobs) -> LearnReport:
        """Make one update; raises LearningError where its numbers are not finite and that is not to be lived with."""
        with self.timed("learn"):
            learned = self.learner.learn(rollout, knobs)
        return self.guard.passed(learned, rollout, knobs, self.clock, self.learner.weights)

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
            if not isfinite(self.judged.metrics.get(RETURN, 0.0)):
                self.tell(_not_counted(self.judged))
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

    def check_rows(self) -> None:
        """Raise CheckpointWriteError where rows were lost: nothing that is learned from then on could be kept."""
        WholeRows(self.observers).check()

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

    def restore(self, found: Found, *, rollouts_fit: bool = True, replay_fits: bool = True) -> None:
        """Go on from a checkpoint, all or nothing.

        Args:
          found: the checkpoint.
          rollouts_fit: whether it has rollouts of this run's size; if not, all episodes begin anew.
          replay_fits: whether what it keeps for replay is as long; if not, replay begins empty.
        """
        check_identity(found, self.checkpointer.identity)
        parts = {name: part for name, part in self.parts.items() if rollouts_fit or name not in OF_ROLLOUTS}
        if not rollouts_fit:
            parts["collector"] = InPart(self.collector, self.collector.begin_anew)
        if not replay_fits:
            parts["learner"] = InPart(self.learner, self._restore_learner_without_replay)
        restore(found, parts, may_lack=PARTS_ADDED_LATER)
        self.cadence.saved(self.clock)

    def _restore_learner_without_replay(self, state: StateTree) -> None:
        self.learner.restore({name: part for name, part in state.items() if name != "replay"})

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Count the time inside towards `phase`."""
        began = perf_counter()
        self.pulse.mark(phase)
        yield
        self.pulse.mark("loop")
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
