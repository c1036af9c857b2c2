"""On a GPU, is a run that stops and is resumed equal to one that never stopped: weights and rows, bit for bit?"""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from harness import keep, show
from respawn.checkpoints.store import find_newest
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig

UPDATES = 16


def cases() -> dict[str, RunConfig]:
    ppo, vtrace = find_preset("cartpole-ppo"), find_preset("cartpole-vtrace")
    lagged = replace(ppo.collection, lag=1)
    pictures = replace(
        ppo,
        world=ForeignConfig(env_id="respawn-benchmarks/PixelDot-v0", imports=("pixel_dot",), workers=8),
        collection=replace(lagged, num_lanes=64, horizon_steps=32),
        learner=replace(ppo.learner, epochs=2, minibatches=4),
    )
    return {
        "ppo": ppo,
        "ppo, gru, lag 1": replace(ppo, model=replace(ppo.model, core="gru"), collection=lagged),
        "ppo, compiled": replace(ppo, learner=replace(ppo.learner, compile=True)),
        "v-trace, lag 0": vtrace,
        "v-trace, gru, lag 1": replace(
            vtrace, model=replace(vtrace.model, core="gru"), collection=replace(vtrace.collection, lag=1)
        ),
        "memory-transformer": find_preset("memory-transformer"),
        "pictures, impala, bf16, lag 1": replace(pictures, model=ModelConfig(precision="bfloat16")),
        "pictures, impala, lstm, lag 1": replace(pictures, model=ModelConfig(core="lstm")),
    }


def compare(config: RunConfig) -> dict[str, Any]:
    config = replace(
        config,
        device="cuda",
        observers=ObserversConfig(console=False, tensorboard=False),
        evaluation=replace(config.evaluation, every_updates=0),
    )
    began = perf_counter()
    with tempfile.TemporaryDirectory() as place:
        straight, _ = begin(replace(config, updates=UPDATES), preset="straight", runs_dir=Path(place))
        resumed, _ = begin(replace(config, updates=UPDATES // 2), preset="resumed", runs_dir=Path(place))
        take_up(resumed, updates=UPDATES)
        return {
            "same_weights": weights_of(straight) == weights_of(resumed),
            "same_rows": rows_of(straight) == rows_of(resumed),
            "seconds": round(perf_counter() - began, 1),
        }


def weights_of(folder: RunFolder) -> str:
    found = find_newest(folder.checkpoints)
    assert found is not None
    return found.manifest.weights_sha256


def rows_of(folder: RunFolder) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in folder.updates.read_text().splitlines()]
    return [{name: value for name, value in row.items() if not name.startswith("time/")} for row in rows]


def main() -> int:
    if not torch.cuda.is_available():
        print("this benchmark needs a CUDA device, and there is none here")
        return 2
    results = {name: compare(config) for name, config in cases().items()}
    rows = [(name, r["same_weights"], r["same_rows"], r["seconds"]) for name, r in results.items()]
    show("resumed equals straight", ("run", "weights", "rows", "seconds"), rows)
    exact = all(r["same_weights"] and r["same_rows"] for r in results.values())
    keep("gpu_resume", __doc__ or "", {"exact": exact, "runs": results})
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
