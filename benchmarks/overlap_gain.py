"""How much faster is an update when collecting goes on while learning (lag 1)?"""

import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

from harness import keep, show
from respawn.presets import find_preset
from respawn.training.bench_overlap import Timing, time_updates
from respawn.training.config import RunConfig

REPEATS = 3
UPDATES = 10


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


def compare(config: RunConfig) -> dict[str, Any]:
    timings: dict[Literal[0, 1], list[Timing]] = {0: [], 1: []}
    with tempfile.TemporaryDirectory() as place:
        for repeat in range(REPEATS):
            for lag in timings:
                timings[lag].append(time_updates(config, lag, UPDATES, Path(place) / f"{repeat}-{lag}"))
    totals = {lag: median(timing.total_seconds for timing in found) for lag, found in timings.items()}
    return {
        "ratio": totals[0] / totals[1],
        "total_seconds": totals,
        "runs": {lag: [asdict(timing) for timing in found] for lag, found in timings.items()},
    }


def main() -> int:
    results = {name: compare(config) for name, config in cases().items()}
    rows = [
        (name, 1000 * r["total_seconds"][0], 1000 * r["total_seconds"][1], r["ratio"]) for name, r in results.items()
    ]
    show("milliseconds an update, median of 3", ("run", "lag 0", "lag 1", "ratio"), rows)
    keep("overlap_gain", __doc__ or "", {"runs": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
