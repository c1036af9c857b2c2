"""All that a run folder says of a run, read once, for figures and artefacts; also while the run goes on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from respawn.contracts.records import Probe, UpdateReport
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_probes, read_rulings, read_updates

Facts = Mapping[str, Any]

GATE, GATE_GROUNDS = "penalty_gate", "penalty_gate_criteria"
CURRICULUM, HARD_STARTS, WARNING = "curriculum", "hard_starts", "hard_start_warning"
KEPT_RULINGS = (GATE, GATE_GROUNDS, CURRICULUM, HARD_STARTS)


@dataclass(frozen=True)
class RunRecord:
    """One run, in memory."""

    folder: RunFolder
    config: Facts
    updates: Sequence[UpdateReport]
    probes: Sequence[Probe]
    rulings: Mapping[str, Mapping[int, Facts]]
    """by schedule and update: what each of `KEPT_RULINGS` concluded last in an update"""
    warnings: Sequence[Facts]
    """that hard starts run low: one for each, with its end where it has ended"""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def is_fish(self) -> bool:
        """Whether it is a school of fish that learns."""
        world = self.config.get("world")
        return isinstance(world, dict) and world.get("kind") == "fish"

    @property
    def planned_updates(self) -> int | None:
        """How long the run was meant to be, where it says so."""
        planned = self.config.get("planned_updates")
        return planned if isinstance(planned, int) and planned > 0 else None

    def series(self, name: str) -> list[float | None]:
        """A metric after each update; None where it has no finite value."""
        return [finite(update.metrics.get(name)) for update in self.updates]

    def ruling(self, schedule: str, update: int) -> Facts:
        """What a schedule concluded in an update; empty: nothing."""
        return self.rulings.get(schedule, {}).get(update, {})

    def stage_type(self, update: int) -> str | None:
        """The kind of hard starts that training was being dealt after an update."""
        told = self.ruling(GATE, update).get("tail_stage_type") or self.ruling(HARD_STARTS, update).get("stage_type")
        return str(told) if told else None

    @cached_property
    def times(self) -> dict[int, float]:
        """When each update was made, seconds since 1970."""
        known = ((update.update, finite(update.metrics.get("time/unix"))) for update in self.updates)
        return {update: seconds for update, seconds in known if seconds is not None}

    def time_of(self, update: int) -> str | None:
        """When an update was made, ISO-8601 UTC; None where it does not say."""
        return iso_time(self.times.get(update))


def read_record(folder: RunFolder) -> RunRecord:
    """Read a run folder; a torn last line of a file is passed over."""
    rulings: dict[str, dict[int, Facts]] = {schedule: {} for schedule in KEPT_RULINGS}
    warnings: list[dict[str, Any]] = []
    for ruling in read_rulings(folder):
        if ruling.schedule in rulings:
            rulings[ruling.schedule][ruling.update] = ruling.facts
        elif ruling.schedule == WARNING:
            _take_warning(warnings, ruling.facts)
    return RunRecord(
        folder=folder,
        config=read_json_object(folder.config),
        updates=list(read_updates(folder)),
        probes=list(read_probes(folder)),
        rulings=rulings,
        warnings=warnings,
    )


def iso_time(seconds: float | None) -> str | None:
    """Seconds since 1970 as a time, to the second."""
    return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC).isoformat()


def finite(value: Any) -> float | None:
    """A number, if it is one and finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _take_warning(warnings: list[dict[str, Any]], facts: Facts) -> None:
    """A warning is told twice, when it begins and when it ends, under the same iteration."""
    told = {name: fact for name, fact in facts.items() if name != "event"}
    if facts.get("event") == "triggered":
        warnings.append({**told, "resolved_iteration": None, "duration_iterations": None, "clear_ratio": None})
        return
    begun = next((warning for warning in warnings if warning["iteration"] == facts.get("iteration")), None)
    if begun is None:
        warnings.append(told)
    else:
        begun.update(told)
