"""respawn bench overlap."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.tables import console, new_table
from respawn.presets import check_preset_name, find_preset

if TYPE_CHECKING:
    from respawn.training.bench_overlap import Timing


@dataclass(frozen=True)
class OverlapArguments:
    """Time to collect, to learn and in all, with lag 0 and with lag 1.

    Both are measured in turn, so that they see the same noise.
    """

    preset: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[PRESET]")] = "cartpole-ppo"
    """what to train meanwhile"""
    updates: int = 20
    """updates a measurement, after warm-up"""
    repeats: int = 3
    """measurements of each; the median counts"""
    threads: int = 1
    """threads that torch computes with"""
    lanes: int | None = None
    """parallel copies of the world; none: the preset's"""
    horizon: int | None = None
    """steps a rollout; none: the preset's"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(OverlapArguments, words, "respawn bench overlap")
    check_at_least(arguments, {"updates": 1, "repeats": 1, "threads": 1, "lanes": 1, "horizon": 1})
    check_preset_name(arguments.preset)
    measured = _measure(arguments)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def _measure(arguments: OverlapArguments) -> dict[str, Any]:
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.bench_overlap import time_updates

    config = find_preset(arguments.preset)
    collection = replace(
        config.collection,
        num_lanes=arguments.lanes or config.collection.num_lanes,
        horizon_steps=arguments.horizon or config.collection.horizon_steps,
    )
    config = replace(config, threads=arguments.threads, collection=collection)
    timings: dict[Literal[0, 1], list[Timing]] = {0: [], 1: []}
    with tempfile.TemporaryDirectory() as place:
        for repeat in range(arguments.repeats):
            for lag in timings:
                folder = Path(place) / f"{repeat}-{lag}"
                timings[lag].append(time_updates(config, lag, arguments.updates, folder))
    lags = {f"lag_{lag}": _medians(found) for lag, found in timings.items()}
    return {
        "preset": arguments.preset,
        "updates": arguments.updates,
        "repeats": arguments.repeats,
        "threads": arguments.threads,
        "decisions_per_update": collection.decisions_per_rollout,
        **lags,
        "ratio": lags["lag_0"]["total_seconds"] / lags["lag_1"]["total_seconds"],
    }


def _medians(timings: "list[Timing]") -> dict[str, float]:
    return {
        "collect_seconds": median(timing.collect_seconds for timing in timings),
        "learn_seconds": median(timing.learn_seconds for timing in timings),
        "total_seconds": median(timing.total_seconds for timing in timings),
        "decisions_per_second": median(timing.decisions_per_second for timing in timings),
    }


def _show(measured: dict[str, Any]) -> None:
    table = new_table()
    for label in ("milliseconds an update", "collect", "learn", "total", "decisions/s"):
        table.add_column(label, justify="left" if label.startswith("milli") else "right", no_wrap=True)
    for lag in ("lag_0", "lag_1"):
        row = measured[lag]
        seconds = (row["collect_seconds"], row["learn_seconds"], row["total_seconds"])
        cells = [f"{1000 * value:.1f}" for value in seconds]
        table.add_row(lag.replace("_", " "), *cells, f"{row['decisions_per_second']:,.0f}")
    target = console()
    target.print(
        f"{measured['preset']}: {measured['decisions_per_update']:,} decisions an update, "
        f"median of {measured['repeats']} x {measured['updates']} updates"
    )
    target.print(table)
    target.print(f"lag 1 makes an update {measured['ratio']:.2f} times as fast as lag 0")
