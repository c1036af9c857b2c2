"""The penalty gate: stages that open, hold and close again as evaluations succeed and fail."""

from collections.abc import Mapping
from typing import Any

from respawn.contracts.records import EvaluationReport, Ruling
from respawn.contracts.saveable import StateTree
from respawn.schedules.gate_check import GateCeiling, explain_gate, refuse_unsound
from respawn.schedules.gate_config import (
    DEATH_P10,
    DOOMED_FRACTION,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_RATIO,
    SURVIVAL_WORST,
    GateConfig,
    criteria_for,
)
from respawn.schedules.gate_rules import LEGACY, SOUND, Condition, Transition, transition
from respawn.schedules.gate_verdicts import GateHistory

TABLES = {"legacy": LEGACY, "sound": SOUND}


class PenaltyGate:
    """Which phase's penalty may be reached. Moves on evaluations alone."""

    def __init__(self, config: GateConfig, *, lock_until: int = 0) -> None:
        """Build it closed.

        Args:
          config: what it goes by; raises ConfigError where a sound gate's limits contradict each other.
          lock_until: the end of the penalty's own lock, for a gate that names none.
        """
        if config.mode == "sound":
            refuse_unsound(config)
        self._config = config
        self._lock_until = config.lock_until or lock_until
        self._history = GateHistory(config)
        self._stage = 0
        self._success_streak = 0
        self._failure_streak = 0
        self._freeze_until = 0
        self._last_success: dict[str, Any] | None = None
        self._checked = False

    @property
    def stage(self) -> int:
        """The stage that is open, from 0."""
        return self._stage

    @property
    def phase_limit(self) -> int:
        """The last phase, from 0, whose penalty is let through."""
        return self._config.allowance[self._stage] - 1

    def observe(self, report: EvaluationReport, kind: str = "") -> tuple[Ruling, ...]:
        """Judge an evaluation.

        Args:
          report: the evaluation.
          kind: what kind of hard starts training was being dealt; '' if none.

        Returns:
          The decision under `penalty_gate`, its grounds under `penalty_gate_criteria`; once, under
          `penalty_gate_check`, what stands in the way of any policy.
        """
        kind = kind.strip().lower()
        check = self._check_once(report)
        missing = self._history.missing(report.metrics)
        if missing:
            facts = {"event": "undecided", "stage": self._stage, "phase_limit": self.phase_limit, "missing": missing}
            return (*check, Ruling(report.update, "penalty_gate", facts))
        self._history.append(report.metrics, kind)
        success = [self._history.verdict(c, kind) for c in criteria_for(self._config.success, kind)]
        failure = [self._history.verdict(c, kind) for c in criteria_for(self._config.failure, kind)]
        succeeded = all(verdict.kept is True for verdict in success)
        failed = any(verdict.kept is False for verdict in failure)
        if self._config.mode == "sound":
            failed = failed and not succeeded
        row = self._move(report, kind, succeeded, failed)
        facts = self._payload(row, report.metrics, kind, failed)
        grounds = {"success": [v.facts() for v in success], "failure": [v.facts() for v in failure]}
        return (
            *check,
            Ruling(report.update, "penalty_gate", facts),
            Ruling(report.update, "penalty_gate_criteria", grounds),
        )

    def _move(self, report: EvaluationReport, kind: str, succeeded: bool, failed: bool) -> Transition:
        config, update = self._config, report.update
        self._failure_streak = self._failure_streak + 1 if failed else 0
        locked, frozen = update <= self._lock_until, update < self._freeze_until
        conditions: dict[Condition, bool] = {
            "success": succeeded,
            "failure": failed,
            "locked": locked,
            "frozen": frozen,
            "open": not locked and not frozen,
            "streak_full": self._success_streak + 1 >= config.required_successes,
            "below_last": self._stage < len(config.allowance) - 1,
            "above_first": self._stage > 0,
            "failures_spent": self._failure_streak >= config.tolerance_of(kind),
        }
        row = transition(TABLES[config.mode], {name for name, holds in conditions.items() if holds})
        self._stage += row.step
        if row.step < 0:
            self._failure_streak = 0
        self._success_streak = {"keep": self._success_streak, "count": self._success_streak + 1, "reset": 0}[row.streak]
        if "success" in row.needs:
            self._last_success = _success_record(report)
        if row.freeze == "full":
            self._freeze_until = update + config.freeze_updates
        elif row.freeze == "success" and config.success_freeze_updates:
            self._freeze_until = max(self._freeze_until, update + config.success_freeze_updates)
        return row

    def _payload(self, row: Transition, metrics: Mapping[str, float], kind: str, failed: bool) -> dict[str, Any]:
        early = next((c for c in criteria_for(self._config.success, kind) if c.metric == EARLY_DEATH), None)
        p10 = next((c for c in criteria_for(self._config.success, kind) if c.metric == DEATH_P10), None)
        facts: dict[str, Any] = {
            "event": row.event,
            "stage": self._stage,
            "phase_limit": self.phase_limit,
            "success_streak": self._success_streak,
            "freeze_until": self._freeze_until,
            "failure_detected": failed,
            "failure_streak": self._failure_streak,
            "failure_tolerance": self._config.tolerance_of(kind),
            "early_death_threshold": None if early is None else early.limit,
            "early_death_window": None if early is None else early.window,
        }
        maybe = {
            "rolling_p10_median": self._history.rolling_median(DEATH_P10, None),
            "rolling_p10_median_stage": (
                self._history.rolling_median(DEATH_P10, kind) if kind and p10 and p10.history != "all" else None
            ),
            "rolling_early_death_median": self._history.rolling_median(EARLY_DEATH, None),
            "rolling_early_death_median_stage": self._history.rolling_median(EARLY_DEATH, kind) if kind else None,
            "tail_stage_type": kind or None,
            "step_one_death_ratio": metrics.get(STEP_ONE_RATIO),
            "last_success": self._last_success,
            "changed": True if row.step else None,
        }
        return {**facts, **{name: fact for name, fact in maybe.items() if fact is not None}}

    def _check_once(self, report: EvaluationReport) -> tuple[Ruling, ...]:
        """What the first evaluation shows to be out of any policy's reach; by then it is too late to refuse."""
        if self._checked:
            return ()
        self._checked = True
        count, ratio = report.metrics.get(STEP_ONE_COUNT), report.metrics.get(STEP_ONE_RATIO)
        population = round(count / ratio) if count and ratio else None
        ceiling = GateCeiling(doomed_fraction=report.metrics.get(DOOMED_FRACTION), population=population)
        found = explain_gate(self._config, ceiling)
        return (Ruling(report.update, "penalty_gate_check", {"explanations": found}),) if found else ()

    def state(self) -> StateTree:
        """Where it stands and what it has seen."""
        return {
            "stage": self._stage,
            "success_streak": self._success_streak,
            "failure_streak": self._failure_streak,
            "freeze_until": self._freeze_until,
            "last_success": None if self._last_success is None else dict(self._last_success),
            "checked": self._checked,
            "history": self._history.state(),
        }

    def restore(self, state: StateTree) -> None:
        """Go on from there."""
        self._stage = state["stage"]
        self._success_streak = state["success_streak"]
        self._failure_streak = state["failure_streak"]
        self._freeze_until = state["freeze_until"]
        self._last_success = None if state["last_success"] is None else dict(state["last_success"])
        self._checked = state["checked"]
        self._history.restore(state["history"])


def _success_record(report: EvaluationReport) -> dict[str, Any]:
    return {
        "iteration": report.update,
        "step_one": report.metrics.get(STEP_ONE_COUNT),
        "step_one_ratio": report.metrics.get(STEP_ONE_RATIO),
        "early_death_fraction_100": report.metrics.get(EARLY_DEATH),
        "first_death_p10": report.metrics.get(DEATH_P10),
        "min_final_survival_rate": report.metrics.get(SURVIVAL_WORST),
    }
