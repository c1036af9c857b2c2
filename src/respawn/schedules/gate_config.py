"""What a penalty gate goes by: criteria as data, and how patient it is."""

import math
from dataclasses import dataclass
from typing import Literal

from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError

SURVIVAL_MEAN = "evaluation/survival_mean"
SURVIVAL_WORST = "evaluation/survival_worst"
DEATH_P10 = "evaluation/death_p10"
EARLY_DEATH = "evaluation/early_death_100"
STEP_ONE_COUNT = "evaluation/step_one_count"
STEP_ONE_RATIO = "evaluation/step_one_ratio"
STEP_ONE_EXCESS = "evaluation/step_one_excess_ratio"
DOOMED_FRACTION = "evaluation/doomed_fraction"


@dataclass(frozen=True)
class Criterion:
    """A limit that a metric of the evaluations must keep."""

    metric: str
    """its name, such as evaluation/survival_mean"""
    at_least: float | None = None
    """the lowest value that keeps the limit"""
    at_most: float | None = None
    """or the highest"""
    window: int = 1
    """how many evaluations are looked at"""
    rule: Literal["last", "median", "last_and_median", "all"] = "last"
    """what must keep the limit: the last value, the median of the window, both, or every value of the window"""
    kind: str = ""
    """it stands for the metric's general criterion while hard starts of this kind are dealt; empty: the general one"""
    history: Literal["all", "kind", "kind_or_all"] = "all"
    """which evaluations fill the window: all, those made while starts of the same kind were dealt, or those and, as
    long as they are too few, all"""

    def __post_init__(self) -> None:
        """Refuse what limits nothing."""
        if not self.metric:
            raise ConfigError("a criterion needs the name of a metric, and has none; name one")
        if (self.at_least is None) == (self.at_most is None):
            raise ConfigError(
                f"a criterion of {self.metric} needs either at-least or at-most, one of the two; set it so"
            )
        if not math.isfinite(self.limit):
            raise ConfigError(f"a criterion's limit of {self.metric} must be finite, not {self.limit}")
        check_at_least(f"a criterion's ({self.metric}) ", self, {"window": 1})
        if self.rule == "last" and self.window != 1:
            raise ConfigError(
                f"a criterion of {self.metric} goes by the last value alone, so its window must be 1, not {self.window}"
                "; or choose another rule"
            )
        if self.kind != self.kind.strip().lower():
            raise ConfigError(f"a criterion's kind must be in lower case and without spaces around, not '{self.kind}'")

    @property
    def limit(self) -> float:
        """The one bound that is set."""
        bound = self.at_least if self.at_least is not None else self.at_most
        assert bound is not None, "one of the two is set"
        return bound

    def kept_by(self, value: float) -> bool:
        """Whether a value keeps the limit."""
        return value >= self.limit if self.at_least is not None else value <= self.limit

    def told(self) -> str:
        """The criterion in words."""
        words = "at least" if self.at_least is not None else "at most"
        return f"{self.metric} {words} {self.limit:g}" + (f" ({self.kind})" if self.kind else "")


@dataclass(frozen=True)
class KindTolerance:
    """Another tolerance while hard starts of a kind are dealt."""

    kind: str
    """of which kind"""
    tolerance: int
    """failures in a row that roll the gate back"""

    def __post_init__(self) -> None:
        """Refuse what tolerates nothing."""
        check_at_least("a kind's ", self, {"tolerance": 1})


SOUND_SUCCESS = (
    Criterion(SURVIVAL_MEAN, at_least=0.95),
    Criterion(SURVIVAL_WORST, at_least=0.80),
    Criterion(DEATH_P10, at_least=500.0, window=2, rule="all"),
    Criterion(EARLY_DEATH, at_most=0.04),
    Criterion(STEP_ONE_EXCESS, at_most=0.006),
)
"""Above what policies reach that have learned nothing (0.84, 120, 0.09), below what none can exceed (about 0.985)."""

SOUND_FAILURE = (
    Criterion(SURVIVAL_MEAN, at_least=0.85),
    Criterion(SURVIVAL_WORST, at_least=0.50),
    Criterion(DEATH_P10, at_least=120.0),
)
"""Where these are broken, a policy has fallen back to what needs no learning."""


@dataclass(frozen=True)
class GateConfig:
    """A gate that lets the penalty through to later phases as evaluations succeed, and takes it back as they fail."""

    allowance: tuple[int, ...] = ()
    """one entry a stage, rising: the last phase, from 1, whose penalty that stage lets through"""
    mode: Literal["sound", "legacy"] = "sound"
    """sound: success counts before failure, and freezes keep the streak; legacy: as in the system that this replaces"""
    required_successes: int = 2
    """successes in a row that open the next stage"""
    freeze_updates: int = 5
    """how long nothing counts after a stage opened, or a failure"""
    success_freeze_updates: int = 0
    """how long nothing counts after a success that opened nothing"""
    lock_until: int = 0
    """no stage opens up to this update; 0: up to the end of the penalty lock, if there is one"""
    failure_tolerance: int = 2
    """failures in a row that roll the gate back"""
    tolerances: tuple[KindTolerance, ...] = ()
    """other tolerances for kinds of hard starts"""
    success: tuple[Criterion, ...] = SOUND_SUCCESS
    """all must be kept for a success"""
    failure: tuple[Criterion, ...] = SOUND_FAILURE
    """one that is broken is a failure"""

    def __post_init__(self) -> None:
        """Refuse what is no gate."""
        prefix = "the gate's "
        check_at_least(prefix, self, {"required_successes": 1, "failure_tolerance": 1})
        check_at_least(prefix, self, {"freeze_updates": 0, "success_freeze_updates": 0, "lock_until": 0})
        if not self.allowance or min(self.allowance) < 1 or list(self.allowance) != sorted(set(self.allowance)):
            raise ConfigError(
                f"the gate's allowance must name at least one phase, from 1 and rising, not {list(self.allowance)}"
            )
        if not self.success:
            raise ConfigError(
                "the gate's success needs at least one criterion, and has none; without any it never opens"
            )
        _check_named_once("success", [f"{c.metric} {c.kind}".strip() for c in self.success])
        _check_named_once("failure", [f"{c.metric} {c.kind}".strip() for c in self.failure])
        _check_named_once("tolerances", [tolerance.kind for tolerance in self.tolerances])

    def tolerance_of(self, kind: str) -> int:
        """How many failures in a row are too many while starts of `kind` are dealt."""
        return next((own.tolerance for own in self.tolerances if own.kind == kind), self.failure_tolerance)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of hard starts with criteria of their own; the general one, '', comes first."""
        return ("", *sorted({c.kind for c in (*self.success, *self.failure) if c.kind}))


def criteria_for(criteria: tuple[Criterion, ...], kind: str) -> tuple[Criterion, ...]:
    """The criteria that hold while starts of `kind` are dealt: a kind's own come before the general ones."""
    own = {c.metric: c for c in criteria if kind and c.kind == kind}
    general = {c.metric: c for c in criteria if not c.kind}
    return tuple({**general, **own}.values())


def _check_named_once(field: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"the gate's {field} name {', '.join(twice)} twice; keep one of them")
