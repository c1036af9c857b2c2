"""What does a checkpoint cost, and what share of an update is that?"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from harness import keep, show
from respawn.observers.hub import ObserverHub
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.training.assemble import assemble
from respawn.training.loop import updates

REPEATS = 15


def cost(preset: str, lag: int) -> dict[str, float]:
    config = find_preset(preset)
    config = replace(
        config,
        updates=REPEATS,
        collection=replace(config.collection, lag=lag),
        evaluation=replace(config.evaluation, every_updates=0),
        checkpoints=replace(config.checkpoints, every_updates=0, every_seconds=0.0),
    )
    torch.set_num_threads(1)
    saves, rounds = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        run = assemble(config, folder, ObserverHub({}), torch.device("cpu"))
        for report in updates(run):
            began = perf_counter()
            run.save()
            saves.append(perf_counter() - began)
            rounds.append(report.metrics["time/collect_seconds"] + report.metrics["time/learn_seconds"])
        newest = max(folder.checkpoints.iterdir())
        size = sum(file.stat().st_size for file in newest.iterdir())
        run.close()
    return {"save_ms": 1000 * median(saves), "update_ms": 1000 * median(rounds), "kib": size / 1024}


def main() -> int:
    cases = [(preset, lag) for preset in ("cartpole-ppo", "memory-gru", "memory-transformer") for lag in (0, 1)]
    results = {f"{preset} lag {lag}": cost(preset, lag) for preset, lag in cases}
    rows = [(name, c["save_ms"], c["update_ms"], c["kib"]) for name, c in results.items()]
    show("median of 15", ("run", "checkpoint ms", "update ms", "KiB"), rows)
    keep("checkpoint_cost", __doc__ or "", {"runs": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
