"""When to evaluate, when to save, when to stop. None of it changes a number that training computes."""

from math import isfinite
from time import monotonic

from respawn.checkpoints.config import CheckpointsConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport
from respawn.contracts.saveable import StateTree
from respawn.evaluation.config import EvaluationConfig


class Cadence:
    """Knows the limits of the run, and what the last checkpoint and the best evaluation were."""

    def __init__(
        self,
        evaluation: EvaluationConfig,
        checkpoints: CheckpointsConfig,
        *,
        last_update: int,
        limit_seconds: float | None,
    ) -> None:
        self._evaluation = evaluation
        self._checkpoints = checkpoints
        self._last_update = last_update
        self._limit_seconds = limit_seconds
        self._best: float | None = None
        self._improved = False
        self._judged_update = 0
        self._times_reached = 0
        self._saved_update = -1
        self._saved_at = monotonic()
        self.stop_requested = False

    def finished(self, clock: Clock) -> bool:
        """Whether a limit is reached, or somebody asked to stop."""
        out_of_time = self._limit_seconds is not None and clock.seconds >= self._limit_seconds
        return self.stop_requested or out_of_time or self.goal_reached or clock.updates >= self._last_update

    @property
    def goal_reached(self) -> bool:
        """Whether the run is as good as it was to become."""
        return self._evaluation.stop_at is not None and self._times_reached >= self._evaluation.stop_after

    @property
    def goal(self) -> str:
        """What the run was to reach, in words."""
        config = self._evaluation
        times = "" if config.stop_after == 1 else f", {config.stop_after} times in a row"
        return f"{self._checkpoints.best_metric} of at least {config.stop_at:g}{times}"

    def evaluation_due(self, clock: Clock) -> bool:
        """Whether this update is one to judge and has not been judged yet."""
        every = self._evaluation.every_updates
        return every > 0 and clock.updates % every == 0 and clock.updates != self._judged_update

    def checkpoint_due(self, clock: Clock) -> bool:
        """Whether to save now: by count, by time, or because this is the best so far."""
        config = self._checkpoints
        by_count = config.every_updates > 0 and clock.updates % config.every_updates == 0
        by_time = config.every_seconds > 0 and monotonic() - self._saved_at >= config.every_seconds
        return (by_count or by_time or self._improved) and self.unsaved(clock)

    def unsaved(self, clock: Clock) -> bool:
        """Whether something was learned since the last checkpoint."""
        return clock.updates != self._saved_update

    def judged(self, report: EvaluationReport) -> None:
        """Take note of an evaluation."""
        self._judged_update = report.update
        score = report.metrics.get(self._checkpoints.best_metric)
        if score is not None and not isfinite(score):
            score = None  # neither the best nor a goal, as the event says that tells of it
        if self._evaluation.stop_at is not None:
            reached = score is not None and score >= self._evaluation.stop_at
            self._times_reached = self._times_reached + 1 if reached else 0
        if score is not None and (self._best is None or score > self._best):
            self._improved = True
            self._best = score

    def saved(self, clock: Clock) -> None:
        """Take note of a checkpoint."""
        self._saved_update = clock.updates
        self._saved_at = monotonic()
        self._improved = False

    def state(self) -> StateTree:
        """The best evaluation so far, and the last."""
        return {"best": self._best, "judged_update": self._judged_update, "times_reached": self._times_reached}

    def restore(self, state: StateTree) -> None:
        """Know them again."""
        self._best = state["best"]
        self._judged_update = state["judged_update"]
        self._times_reached = state.get("times_reached", 0)
