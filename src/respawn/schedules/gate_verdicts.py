"""What evaluations so far say to a criterion."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from respawn.contracts.saveable import StateTree
from respawn.schedules.gate_config import Criterion, GateConfig, criteria_for

_LEAST_REMEMBERED = 4


@dataclass(frozen=True)
class Verdict:
    """Whether a criterion is kept; None: too few evaluations to say."""

    criterion: Criterion
    value: float
    """the last value"""
    level: float | None
    """what the rule compares: the median, or the worst of the window; None: too few evaluations"""
    kept: bool | None

    def facts(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "metric": self.criterion.metric,
            "bound": "at_least" if self.criterion.at_least is not None else "at_most",
            "limit": self.criterion.limit,
            "window": self.criterion.window,
            "rule": self.criterion.rule,
            "value": self.value,
            "level": self.level,
            "kept": self.kept,
        }


class GateHistory:
    """The last values of each metric that criteria name: of all evaluations, and by kind of hard starts."""

    def __init__(self, config: GateConfig) -> None:
        self._config = config
        self._metrics = sorted({c.metric for c in (*config.success, *config.failure)})
        self._size = max(_LEAST_REMEMBERED, *(c.window for c in (*config.success, *config.failure)))
        self._all: dict[str, deque[float]] = {}
        self._by_kind: dict[str, dict[str, deque[float]]] = {}

    def missing(self, metrics: Mapping[str, float]) -> list[str]:
        """What criteria name and an evaluation does not say."""
        return [name for name in self._metrics if name not in metrics or metrics[name] != metrics[name]]

    def append(self, metrics: Mapping[str, float], kind: str) -> None:
        """Take in an evaluation made while starts of `kind` were dealt; '' if none were."""
        places = [self._all, self._by_kind.setdefault(kind, {})] if kind else [self._all]
        for place in places:
            for name in self._metrics:
                place.setdefault(name, deque(maxlen=self._size)).append(metrics[name])

    def verdict(self, criterion: Criterion, kind: str) -> Verdict:
        """What the evaluations say to a criterion; the last one was made while starts of `kind` were dealt."""
        value = self._all[criterion.metric][-1]
        window = self.window(criterion, kind)
        if window is None:
            return Verdict(criterion, value, None, None)
        if criterion.rule == "all":
            level = min(window) if criterion.at_least is not None else max(window)
        else:
            level = value if criterion.rule == "last" else median(window)
        kept = criterion.kept_by(level) and (criterion.rule != "last_and_median" or criterion.kept_by(value))
        if criterion.rule == "last_and_median" and criterion.window == 1 and self._config.mode == "legacy":
            return Verdict(criterion, value, None, None)  # there a window of one has no median, and nothing succeeds
        return Verdict(criterion, value, level, kept)

    def window(self, criterion: Criterion, kind: str) -> list[float] | None:
        """The values that a criterion looks at; None: there are too few."""
        if criterion.history == "all" or not kind:
            return self._last(self._all, criterion.metric, criterion.window)
        own = self._last(self._by_kind.get(kind, {}), criterion.metric, criterion.window)
        if own is None and criterion.history == "kind_or_all":
            general = next(
                (c for c in criteria_for(self._config.success, "") if c.metric == criterion.metric), criterion
            )
            return self._last(self._all, criterion.metric, general.window)
        return own

    def rolling_median(self, metric: str, kind: str | None) -> float | None:
        """The median of a metric over its criterion's window, of all evaluations or of one kind's; None: too few."""
        criterion = next((c for c in criteria_for(self._config.success, kind or "") if c.metric == metric), None)
        if criterion is None:
            return None
        place = self._all if kind is None else self._by_kind.get(kind, {})
        values = self._last(place, metric, criterion.window)
        return None if values is None else median(values)

    @staticmethod
    def _last(place: Mapping[str, deque[float]], metric: str, window: int) -> list[float] | None:
        values = list(place.get(metric, ()))[-window:]
        return values if len(values) == window else None

    def state(self) -> StateTree:
        """All values, oldest first."""
        return {
            "all": {name: list(values) for name, values in self._all.items()},
            "by_kind": {
                kind: {name: list(values) for name, values in place.items()} for kind, place in self._by_kind.items()
            },
        }

    def restore(self, state: StateTree) -> None:
        """The same values again."""
        self._all = self._deques(state["all"])
        self._by_kind = {kind: self._deques(place) for kind, place in state["by_kind"].items()}

    def _deques(self, values: Mapping[str, list[float]]) -> dict[str, deque[float]]:
        return {name: deque(numbers, maxlen=self._size) for name, numbers in values.items()}
