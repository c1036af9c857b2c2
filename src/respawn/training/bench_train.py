"""How many decisions a second trainings learn from, beside Stable-Baselines3: what `respawn bench train` measures."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from respawn.collection.config import CollectionConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.training.bench_case import sized, training_entry
from respawn.training.bench_matrix import Entry, Result, Results, Tell, measure_matrix
from respawn.training.bench_pacing import TimedPacing
from respawn.training.bench_peer import PEERS, peer_entries, why_alone
from respawn.training.bench_process import Measured
from respawn.training.bench_summary import Row, cell_rows, pace, ratios
from respawn.training.config import RunConfig
from respawn.worlds.mario.config import MarioConfig

OURS = "respawn"
UPDATE_PHASES = ("act", "world", "learn")
"""Where nothing goes on beside the loop, these and the rest are an update's whole time."""
BESIDE_PHASES = ("collect", "learn", "wait")


@dataclass(frozen=True)
class TrainPlan:
    """Which sizes, for how long, beside whom."""

    lanes: tuple[int | None, ...] = (None,)
    """None: as each configuration has it"""
    horizons: tuple[int | None, ...] = (None,)
    rounds: int = 5
    seconds: float = 4.0
    """of each turn; an update that has begun is finished"""
    peers: Path | None = None
    """the folder with the peer's script; None: no peer"""
    python: str = sys.executable
    """what runs it"""


def measure_training(
    configs: Mapping[str, RunConfig],
    plan: TrainPlan,
    tell: Tell = lambda doing, part: None,
    keep: Callable[[list[dict[str, Any]]], None] = lambda cells: None,
) -> list[dict[str, Any]]:
    """A cell for each configuration and size, as plain data; the names are explained in docs/cli.md.

    Args:
      configs: what is trained, by its name.
      plan: what is to be measured.
      tell: is told what is being done, and which part of all is done.
      keep: is given all cells as far as they are known, whenever that is more than before.
    """
    entries: dict[str, list[Entry]] = {}
    about: dict[str, tuple[str, RunConfig, CollectionConfig]] = {}
    for preset, config in configs.items():
        for lanes in plan.lanes:
            for horizon in plan.horizons:
                collection = sized(config, lanes, horizon)
                cell = f"{preset} {collection.num_lanes} x {collection.horizon_steps}"
                entries[cell] = _entries(config, collection, plan)
                about[cell] = preset, config, collection

    def cells_of(results: Results) -> list[dict[str, Any]]:
        return [_cell(*about[name], found) for name, found in results.items()]

    return cells_of(measure_matrix(entries, plan.rounds, tell, lambda results: keep(cells_of(results))))


def _entries(config: RunConfig, collection: CollectionConfig, plan: TrainPlan) -> list[Entry]:
    ours = training_entry(config, collection, TimedPacing(plan.seconds), mode=OURS, writes_rows=True)
    if plan.peers is None or why_alone(config):
        return [ours]
    return [ours, *peer_entries(config, collection, plan.seconds, plan.peers, plan.python)]


def _cell(preset: str, config: RunConfig, collection: CollectionConfig, results: Sequence[Result]) -> dict[str, Any]:
    ours = results[0]
    others = [turn["others_cores"] for result in results for turn in result.turns]
    return {
        "preset": preset,
        "lanes": collection.num_lanes,
        "horizon_steps": collection.horizon_steps,
        **_learner_facts(config),
        "threads": ours.facts["threads"],
        **(_pace(ours.turns) if ours.turns else {}),
        **({"update_milliseconds": update_milliseconds(ours.turns)} if ours.turns else {}),
        "peers": {name: about for name in PEERS if (about := _about_peer(name, ours, results)) is not None},
        "peers_not_installed": sorted({result.missing for result in results if result.missing}),
        "others_cores": median(others) if others else None,
        "rows": _rows(preset, results),
    }


def _learner_facts(config: RunConfig) -> dict[str, Any]:
    learner, world = config.learner, config.world
    passes = {"epochs": learner.epochs, "minibatches": learner.minibatches} if isinstance(learner, PPOConfig) else {}
    engine = {"engine_threads": world.engine_threads} if isinstance(world, MarioConfig) else {}
    return {**engine, **passes, "hidden_sizes": list(config.model.hidden_sizes)}


def update_milliseconds(turns: Sequence[Measured]) -> dict[str, float]:
    """Where an update's time goes, on average; what goes on beside the loop is no part of a sum."""
    updates = sum(turn["updates"] for turn in turns)
    total = 1000 * sum(turn["seconds"] for turn in turns) / updates
    beside = any(turn["idle_share"] > 0 for turn in turns)
    taken = {
        phase: 1000 * sum(turn["phase_seconds"].get(phase, 0.0) for turn in turns) / updates
        for phase in (BESIDE_PHASES if beside else UPDATE_PHASES)
    }
    return {**taken, **({} if beside else {"rest": total - sum(taken.values())}), "update": total}


def _rows(preset: str, results: Sequence[Result]) -> list[Row]:
    """Ours, and of each peer the faster one; ratios are to Stable-Baselines3 as its users have it."""
    shown = [results[0]]
    for name in PEERS:
        found = [result for result in results if result.facts["mode"] == name]
        best = _best(found)
        # One that failed has failed whatever came of the other, which is shown where it went well.
        failed = [result for result in found if result.error][:1]
        shown += [*([] if best is None else [best]), *failed]
    return cell_rows(shown, preset, lambda result: result.facts["mode"] == next(iter(PEERS)))


def _best(results: Sequence[Result]) -> Result | None:
    return max(
        (result for result in results if result.turns), key=lambda result: _median_pace(result.turns), default=None
    )


def _about_peer(name: str, ours: Result, results: Sequence[Result]) -> dict[str, Any] | None:
    found = [result for result in results if result.facts["mode"] == name and result.turns]
    best = _best(found)
    if best is None or not ours.turns:
        return None
    compared = ratios(ours.turns, best.turns)
    return {
        **_pace(best.turns),
        "ratio": _median_pace(ours.turns) / _median_pace(best.turns),
        "ratio_of_rounds": {"min": min(compared), "median": median(compared), "max": max(compared)},
        "threads": best.facts["threads"],
        "by_threads": {str(result.facts["threads"]): _median_pace(result.turns) for result in found},
    }


def _pace(turns: Sequence[Measured]) -> dict[str, Any]:
    paces = [pace(turn) for turn in turns]
    return {
        "decisions_per_second": median(paces),
        "spread": {
            "min": min(paces),
            "max": max(paces),
            "per_core_second": median(turn["decisions"] / max(turn["cpu_seconds"], 1e-9) for turn in turns),
            "cores_used": fmean(turn["cpu_seconds"] / turn["seconds"] for turn in turns),
        },
    }


def _median_pace(turns: Sequence[Measured]) -> float:
    return median(pace(turn) for turn in turns)
