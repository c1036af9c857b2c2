"""Hard starts that evaluations find: the worst of each, kept even and bounded."""

from collections.abc import Mapping
from typing import Any

from respawn.contracts.records import EvaluationReport
from respawn.contracts.saveable import StateTree
from respawn.errors import ConfigError
from respawn.schedules.hard_start_config import HARVESTED, HarvestConfig
from respawn.schedules.start_clusters import filter_starts
from respawn.schedules.start_files import HardStart, checked_start

WORST_STARTS = "worst_starts"
"""where a probe lists them, the worst first: each with a state, and features if it has any"""


class Harvest:
    """The worst starts of the evaluations so far."""

    def __init__(self, config: HarvestConfig) -> None:
        self._config = config
        self._starts: list[HardStart] = []

    @property
    def starts(self) -> tuple[HardStart, ...]:
        """What there is, the oldest first."""
        return tuple(self._starts)

    def take(self, report: EvaluationReport) -> dict[str, Any] | None:
        """Take in the worst starts of an evaluation; answers what became of them, or None if it names none."""
        named = [] if report.probe is None else report.probe.facts.get(WORST_STARTS, [])
        if not named:
            return None
        taken, unusable = [], 0
        for number, entry in enumerate(named[: self._config.per_evaluation]):
            try:
                taken.append(_start(f"{WORST_STARTS}[{number}] of update {report.update}", entry))
            except ConfigError:  # an evaluation that tells of itself badly is no reason to stop training
                unusable += 1
        filtered = filter_starts([*self._starts, *taken], self._config.filter)
        self._starts = list(filtered.kept[-self._config.most :])
        return {"offered": len(named), "taken": len(taken), "unusable": unusable, "kept": len(self._starts)} | {
            name: filtered.report[name] for name in ("before", "after", "dropped")
        }

    def state(self) -> StateTree:
        """The starts as plain data."""
        return {
            "starts": [
                {"state": _copied(s.state), "features": dict(s.features), "label": s.label} for s in self._starts
            ]
        }

    def restore(self, state: StateTree) -> None:
        """The same starts again."""
        self._starts = [
            HardStart(_copied(saved["state"]), dict(saved["features"]), HARVESTED, saved["label"])
            for saved in state["starts"]
        ]


def _start(where: str, entry: Any) -> HardStart:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{where} must be an object")
    told = {name: entry[name] for name in ("episode", "seed") if name in entry}
    label = " ".join(f"{name} {value}" for name, value in told.items())
    return checked_start(where, entry.get("state"), entry.get("features") or {}, kind=HARVESTED, label=label)


def _copied(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {name: _copied(value) for name, value in tree.items()}
    return [_copied(value) for value in tree] if isinstance(tree, list | tuple) else tree
