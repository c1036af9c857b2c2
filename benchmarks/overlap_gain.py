"""How much faster is an update when collecting goes on while learning (lag 1)?"""

import sys
from dataclasses import replace
from statistics import median
from typing import Any

from harness import keep, show
from respawn.presets import find_preset
from respawn.training.bench_case import Way
from respawn.training.bench_overlap import OverlapPlan, measure_overlap
from respawn.training.bench_pacing import CountedPacing
from respawn.training.config import RunConfig

REPEATS = 3
UPDATES = 10
DROPPED = 3


def cases() -> dict[str, RunConfig]:
    ppo, vtrace = find_preset("cartpole-ppo"), find_preset("cartpole-vtrace")
    wide = replace(ppo.model, hidden_sizes=(512, 512))
    return {
        "cartpole-ppo: tiny model, world in Python": ppo,
        "the same, 2 layers of 512, 32 lanes, 1 epoch": replace(
            ppo,
            model=wide,
            collection=replace(ppo.collection, num_lanes=32),
            learner=replace(ppo.learner, epochs=1, minibatches=2),
        ),
        "cartpole-vtrace, 2 layers of 512, 32 lanes of 64 steps": replace(
            vtrace, model=wide, collection=replace(vtrace.collection, num_lanes=32, horizon_steps=64)
        ),
        "memory-transformer": find_preset("memory-transformer"),
    }


def compare(name: str, config: RunConfig) -> dict[str, Any]:
    plan = OverlapPlan((Way(lag=0), Way(lag=1)), pacing=CountedPacing(DROPPED + UPDATES, 0.0), repeats=REPEATS)
    (cell,) = measure_overlap(name, config, plan)
    failed = [row["error"] for row in cell["rows"] if row["error"]]
    if failed:
        raise SystemExit(f"{name}: {failed[0]}")
    totals = {lag: [turn["seconds"] / turn["updates"] for turn in turns] for lag, turns in cell["turns"].items()}
    return {
        "ratio": cell["rows"][1]["ratio"],
        "total_seconds": {lag: median(found) for lag, found in totals.items()},
        "rows": cell["rows"],
    }


def main() -> int:
    results = {name: compare(name, config) for name, config in cases().items()}
    rows = [
        (name, 1000 * r["total_seconds"]["sync"], 1000 * r["total_seconds"]["overlap"], r["ratio"])
        for name, r in results.items()
    ]
    show("milliseconds an update, median of 3", ("run", "lag 0", "lag 1", "ratio"), rows)
    keep("overlap_gain", __doc__ or "", {"runs": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
