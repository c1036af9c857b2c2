"""How many frames a second a training learns from: collecting in turn, beside learning (overlap), or in actors?

All of them train the same preset in this one process and its children, round after round in turn; ratios are of each
round by itself, so that noise that lasts for seconds meets all. Between its turns a training stands still.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

from harness import keep, show
from respawn.collection.flow import bottleneck
from respawn.contracts.records import UpdateReport
from respawn.observers.hub import ObserverHub
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.training.assemble import assemble
from respawn.training.config import MOST_UPDATES, RunConfig
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.training.loop import updates

PRESETS = ("cartpole-vtrace", "mario-vtrace")


class Training:
    """Goes on for a while each time it is asked; without evaluations, checkpoints and observers."""

    def __init__(self, config: RunConfig, place: Path) -> None:
        config = replace(
            config,
            updates=MOST_UPDATES,
            evaluation=replace(config.evaluation, every_updates=0, stop_at=None, video_every=0),
            checkpoints=replace(config.checkpoints, every_updates=0, every_seconds=0.0),
        )
        device = resolve_device(config.device, wants_gpu=False)
        prepare_torch(device, resolve_threads(config.threads))
        place.mkdir(parents=True)
        self._run = assemble(config, RunFolder(place), ObserverHub({}), device)
        self._updates = updates(self._run)
        # What waited since the last turn was gathered while others were measured, and must not count.
        self._stale_updates = 2 * config.collection.greatest_lag + 2
        self.reports: list[UpdateReport] = []

    def frames_per_second(self, seconds: float) -> float:
        """Train for about this long."""
        for _ in range(self._stale_updates):
            next(self._updates)
        before, began = self._run.clock.frames, perf_counter()
        while perf_counter() - began < seconds:
            self.reports.append(next(self._updates))
        pace = (self._run.clock.frames - before) / (perf_counter() - began)
        self._run.collector.state()  # waits for whatever is under way: nobody works during the others' turns
        return pace

    def mean(self, name: str) -> float:
        """Of a metric, over all that was measured."""
        return fmean(report.metrics.get(name, 0.0) for report in self.reports)

    def close(self) -> None:
        """Leave it."""
        self._run.close()


def variants(config: RunConfig, actors: list[int], order: str) -> dict[str, RunConfig]:
    """The same training, collected for in each way."""
    plain = replace(config.collection, lag=0, threaded=True)
    ways = {"sync": plain, "overlap": replace(plain, lag=1)}
    ways |= {f"actors {count}": replace(plain, actors=count, order=order) for count in actors}
    return {name: replace(config, collection=collection) for name, collection in ways.items()}


def compare(preset: str, options: argparse.Namespace) -> dict[str, Any]:
    """Every way of one preset."""
    paces: dict[str, list[float]] = {}
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trainings = {}
        config = replace(find_preset(preset), device=options.device)
        for name, variant in variants(config, options.actors, options.order).items():
            trainings[name] = Training(variant, place / name)
            stack.callback(trainings[name].close)
        for _ in range(options.rounds):
            for name, training in trainings.items():
                paces.setdefault(name, []).append(training.frames_per_second(options.seconds))
        return {name: _about(training, paces, name) for name, training in trainings.items()}


def _about(training: Training, paces: dict[str, list[float]], name: str) -> dict[str, Any]:
    ratios = {
        f"to_{other}": median(mine / theirs for mine, theirs in zip(paces[name], paces[other], strict=True))
        for other in ("sync", "overlap")
    }
    shares = [training.mean(f"time/{side}_waiting_share") for side in ("learner", "actors")]
    return {
        "frames_per_second": median(paces[name]),
        "lowest": min(paces[name]),
        "highest": max(paces[name]),
        **ratios,
        "lag": training.mean("weights/lag"),
        "learn_seconds": training.mean("time/learn_seconds"),
        "collect_seconds": training.mean("time/collect_seconds"),
        "wait_seconds": training.mean("time/wait_seconds"),
        **({"bottleneck": bottleneck(*shares)} if name.startswith("actors") else {}),
    }


def main() -> int:
    """Measure, keep and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=list(PRESETS))
    parser.add_argument("--actors", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--order", choices=("fixed", "free"), default="fixed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each way in each round")
    parser.add_argument("--device", default="cpu", help="of the learner; actors compute on the CPU")
    parser.add_argument("--json", action="store_true", help="print the results as JSON and keep nothing")
    options = parser.parse_args()
    results = {preset: compare(preset, options) for preset in options.presets}
    if options.json:
        print(json.dumps(results, indent=2))
        return 0
    columns = ("way", "frames/s", "of sync", "of overlap", "lag", "bottleneck")
    for preset, ways in results.items():
        rows = [
            (name, way["frames_per_second"], way["to_sync"], way["to_overlap"], way["lag"], way.get("bottleneck", ""))
            for name, way in ways.items()
        ]
        show(f"{preset}: median of {options.rounds} rounds of {options.seconds:g} s", columns, rows)
    # Each device of the learner has a file of its own: the machine's name does not tell where it computed.
    kept = f"actor_learner_{options.order}_{options.device.partition(':')[0]}"
    keep(kept, __doc__ or "", {"rounds": options.rounds, "seconds": options.seconds, "presets": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
