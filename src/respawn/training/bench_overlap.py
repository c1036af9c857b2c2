"""How fast a training goes in each way of collecting, and where its time goes: what `respawn bench overlap` says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from respawn.training.bench_case import SYNC, Way, sized, training_entry
from respawn.training.bench_matrix import Result, Results, Tell, measure_matrix
from respawn.training.bench_pacing import CountedPacing
from respawn.training.bench_summary import cell_rows
from respawn.training.config import RunConfig


@dataclass(frozen=True)
class OverlapPlan:
    """Which cells, in which ways, for how long."""

    ways: tuple[Way, ...]
    lanes: tuple[int | None, ...] = (None,)
    """None: as the configuration has it"""
    horizons: tuple[int | None, ...] = (None,)
    pacing: CountedPacing = field(default_factory=CountedPacing)
    repeats: int = 3


def measure_overlap(
    name: str,
    config: RunConfig,
    plan: OverlapPlan,
    tell: Tell = lambda doing, part: None,
    keep: Callable[[list[dict[str, Any]]], None] = lambda cells: None,
) -> list[dict[str, Any]]:
    """All cells of `plan`, each with its rows: in every way, and with what an update takes there.

    Args:
      name: of the configuration, for people.
      config: what is trained.
      plan: what is to be measured.
      tell: is told what is being done, and which part of all is done.
      keep: is given all cells as far as they are known, whenever that is more than before.
    """

    def cells_of(results: Results) -> list[dict[str, Any]]:
        return [_cell(name, found, plan.pacing) for found in results.values()]

    entries = {}
    for lanes in plan.lanes:
        for horizon in plan.horizons:
            collection = sized(config, lanes, horizon)
            entries[f"{name} {collection.num_lanes} x {collection.horizon_steps}"] = [
                training_entry(config, way.collection(collection), plan.pacing, mode=way.mode) for way in plan.ways
            ]
    return cells_of(measure_matrix(entries, plan.repeats, tell, lambda results: keep(cells_of(results))))


def _cell(name: str, results: Sequence[Result], pacing: CountedPacing) -> dict[str, Any]:
    facts = results[0].facts
    return {
        "preset": name,
        "lanes": facts["num_envs"],
        "horizon_steps": facts["rollout"],
        "updates_dropped": {label(result): pacing.dropped(result.facts["lag"]) for result in results},
        "updates_counted": {label(result): pacing.counted(result.facts["lag"]) for result in results},
        # Whatever was asked for first: what is to be known is what collecting beside learning is worth.
        "rows": cell_rows(results, name, lambda result: result.facts["mode"] == SYNC),
        "turns": {label(result): [dict(turn) for turn in result.turns] for result in results},
    }


def label(result: Result) -> str:
    """The name of a way within its cell."""
    actors = result.facts["actors"]
    return f"actors {actors}" if actors else str(result.facts["mode"])
