"""A row for each trial of a study, for people and programs, and which are the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from respawn.sweeps.claims import CAUSE, HOST, RUN
from respawn.sweeps.definition import Definition
from respawn.sweeps.trial_config import drawn_settings, is_of_space
from respawn.sweeps.trial_run import DECISIONS, UPDATES, WEIGHTS

STATES = {
    TrialState.COMPLETE: "complete",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "waiting",
}


@dataclass(frozen=True)
class TrialRow:
    """One trial, for people and programs."""

    trial: int
    state: str
    value: float | None
    """of one that was pruned: where it was cut short"""
    run: str
    updates: int | None
    decisions: int | None
    seconds: float | None
    weights_sha256: str | None
    cause: str
    host: str
    settings: dict[str, Any]
    """what was drawn for it"""
    curve: tuple[tuple[int, float], ...]
    """decisions and the objective, at each evaluation"""
    foreign: tuple[str, ...] = ()
    """settings that it has and the space does not hold: something else than respawn put it into the study"""


def trial_rows(study: optuna.Study, definition: Definition) -> list[TrialRow]:
    """All trials in the order of their numbers."""
    return [_row(trial, definition) for trial in study.get_trials(deepcopy=False)]


def best_first(rows: Sequence[TrialRow], definition: Definition) -> list[TrialRow]:
    """The trials that went on to their end; of two that are as good, the one that took less is better.

    One with settings of its own is not among them: they cannot be told, and nothing could be trained like it.
    """
    sign = -1.0 if definition.direction == "maximise" else 1.0
    ended = [row for row in rows if row.state == "complete" and row.value is not None and not row.foreign]
    return sorted(ended, key=lambda row: (sign * (row.value or 0.0), row.decisions or 0, row.trial))


def _row(trial: FrozenTrial, definition: Definition) -> TrialRow:
    said = trial.user_attrs
    drawn = {name: value for name, value in trial.params.items() if is_of_space(definition.space, name, value)}
    return TrialRow(
        trial=trial.number,
        state=STATES[trial.state],
        value=trial.value,
        run=str(said.get(RUN, "")),
        updates=said.get(UPDATES),
        decisions=said.get(DECISIONS),
        seconds=None if trial.duration is None else round(trial.duration.total_seconds(), 1),
        weights_sha256=said.get(WEIGHTS),
        cause=str(said.get(CAUSE, "")),
        host=str(said.get(HOST, "")),
        settings=drawn_settings(definition.space, drawn),
        curve=tuple(sorted(trial.intermediate_values.items())),
        foreign=tuple(sorted(trial.params.keys() - drawn.keys())),
    )
