"""Does a run whose GPU is too small go on smaller, from the start and in the middle, and keep what it had learned?

The GPU is made too small: torch is told to use no more of it than lies between what the run needs as it was asked for
and what it needs some rungs further down. The errors are CUDA's own. Needs a GPU.

    .venv/bin/python benchmarks/gpu_out_of_memory.py
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from harness import keep, show
from respawn.checkpoints.store import find_newest
from respawn.contracts.records import EvaluationReport
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_events, read_updates
from respawn.training.config import RunConfig
from respawn.training.launch import begin
from respawn.training.memory_ladder import after_steps
from respawn.training.recorded import load_config

UPDATES = 8
MIDDLE = 4


def small_run(lanes: int, horizon: int) -> RunConfig:
    """A few updates on pixels, judged after each so that something can be done in the middle."""
    config = find_preset("mario-pixels")
    return replace(
        config,
        updates=UPDATES,
        device="cuda",
        model=replace(config.model, cuda_graphs=False),
        collection=replace(config.collection, num_lanes=lanes, horizon_steps=horizon),
        evaluation=replace(config.evaluation, every_updates=1, episodes=1, limit_steps=4, stop_at=None),
        checkpoints=replace(config.checkpoints, every_updates=2, every_seconds=0.0),
        observers=replace(config.observers, console=False, tensorboard=False),
    )


def peak_bytes(config: RunConfig, place: Path, name: str) -> int:
    """What a run of this size needs."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    begin(replace(config, updates=2), preset="mario-pixels", runs_dir=place, name=name)
    return torch.cuda.max_memory_allocated()


def limit(to_bytes: float) -> None:
    """Let torch use no more of the GPU than this."""
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(to_bytes / torch.cuda.get_device_properties(0).total_memory)


def what_happened(folder: RunFolder) -> dict[str, Any]:
    """The steps that were taken, and whether every update is there once."""
    events = [timed.event for timed in read_events(folder)]
    config = load_config(folder)
    newest = find_newest(folder.checkpoints)
    return {
        "steps": [event.message for event in events if event.kind == "stepped_down"],
        "rungs": list(config.stepped_down),
        "lanes": after_steps(config).collection.num_lanes,
        "horizon_steps": after_steps(config).collection.horizon_steps,
        "accumulation": after_steps(config).learner.optimizer.accumulation,
        "updates": [report.update for report in read_updates(folder)],
        "saved_update": None if newest is None else newest.manifest.updates,
        "is_whole": [report.update for report in read_updates(folder)] == list(range(1, UPDATES + 1)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--horizon", type=int, default=64)
    arguments = parser.parse_args()
    asked = small_run(arguments.lanes, arguments.horizon)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        needs = peak_bytes(asked, place, "as-asked")
        smaller = peak_bytes(replace(asked, stepped_down=asked.faults.ladder[:3]), place, "three-rungs-down")
        results["needs_mib"], results["three_rungs_down_mib"] = needs / 2**20, smaller / 2**20
        results["limit_mib"] = (needs + 2 * smaller) / 3 / 2**20

        limit(results["limit_mib"] * 2**20)
        folder, _ = begin(asked, preset="mario-pixels", runs_dir=place, name="at-the-start")
        results["at_the_start"] = what_happened(folder)

        def shrink(report: EvaluationReport) -> None:
            if report.update == MIDDLE:
                limit(results["limit_mib"] * 2**20)

        limit(torch.cuda.get_device_properties(0).total_memory)
        folder, _ = begin(asked, preset="mario-pixels", runs_dir=place, name="in-the-middle", stop_when=shrink)
        results["in_the_middle"] = what_happened(folder)
    rows = [[when, len(found["rungs"]), f"{found['lanes']} x {found['horizon_steps']}", found["accumulation"],
             found["is_whole"]] for when, found in results.items() if isinstance(found, dict)]  # fmt: skip
    show("a GPU that is too small", ["", "rungs", "lanes x steps", "parts", "every update once"], rows)
    keep("gpu_out_of_memory", "does a run whose GPU is too small go on smaller?", results)
    stepped = all(found["steps"] and found["is_whole"] for found in results.values() if isinstance(found, dict))
    return 0 if stepped else 1


if __name__ == "__main__":
    sys.exit(main())
