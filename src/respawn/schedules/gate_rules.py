"""How a penalty gate moves, as tables: the first row whose conditions all hold is what happens."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

Condition: TypeAlias = Literal[
    "success",  # the evaluation succeeded
    "failure",  # it failed
    "locked",  # no stage opens yet
    "frozen",  # nothing counts since the last change
    "open",  # neither locked nor frozen
    "streak_full",  # this success would be the last one needed
    "below_last",  # there is a stage to open
    "above_first",  # there is a stage to go back to
    "failures_spent",  # as many failures in a row as are too many
]


@dataclass(frozen=True)
class Transition:
    """One row."""

    event: str
    needs: frozenset[Condition]
    step: int = 0
    """how many stages on"""
    streak: Literal["keep", "count", "reset"] = "keep"
    """what becomes of the successes in a row"""
    freeze: Literal["none", "full", "success"] = "none"
    """for how long nothing counts after it: `freeze_updates`, `success_freeze_updates`"""


def _row(
    event: str,
    *needs: Condition,
    step: int = 0,
    streak: Literal["keep", "count", "reset"] = "keep",
    freeze: Literal["none", "full", "success"] = "none",
) -> Transition:
    return Transition(event, frozenset(needs), step, streak, freeze)


_ROLLBACK = _row("rollback", "failure", "above_first", "failures_spent", step=-1, streak="reset", freeze="full")
_FAILURE_HOLD = _row("failure_hold", "failure", streak="reset", freeze="full")
_NOOP = _row("noop", streak="reset")

LEGACY: tuple[Transition, ...] = (
    _ROLLBACK,
    _FAILURE_HOLD,
    _row("locked", "locked", streak="reset"),
    _row("frozen", "frozen", streak="reset"),
    _row("advance", "success", "streak_full", "below_last", step=1, streak="reset", freeze="full"),
    _row("success_progress", "success", streak="count", freeze="success"),
    _NOOP,
)
"""Failures hide successes, and any freeze as long as the time between evaluations wipes the streak."""

SOUND: tuple[Transition, ...] = (
    _row("advance", "success", "open", "streak_full", "below_last", step=1, streak="reset", freeze="full"),
    _row("success_progress", "success", "open", streak="count", freeze="success"),
    _ROLLBACK,
    _FAILURE_HOLD,
    _row("locked", "locked"),
    _row("frozen", "frozen"),
    _NOOP,
)
"""Success is looked at first, and what does not count, either way, leaves the streak alone."""


def transition(table: tuple[Transition, ...], holding: Set[Condition]) -> Transition:
    """The first row whose conditions all hold; the last row has none."""
    return next(row for row in table if row.needs <= holding)
