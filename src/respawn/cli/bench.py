"""respawn bench overlap."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from respawn.cli.arguments import parse
from respawn.errors import ConfigError
from respawn.presets import find_preset
from respawn.training.bench_overlap import Timing, time_updates

USAGE = """usage: respawn bench overlap [PRESET] [...]

  overlap    time to collect, to learn and in all, with lag 0 and with lag 1, and their ratio

'respawn bench overlap --help' says more."""


@dataclass(frozen=True)
class OverlapArguments:
    """Time to collect, to learn and in all, with lag 0 and with lag 1 (in turn, so that both see the same noise)."""

    preset: Annotated[str, tyro.conf.Positional] = "cartpole-ppo"
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
    if words and words[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if not words or words[0] != "overlap":
        came = f"not '{words[0]}'" if words else "and nothing came"
        raise ConfigError(f"'respawn bench' wants one of overlap, {came}; see 'respawn bench --help'")
    arguments = parse(OverlapArguments, words[1:], "respawn bench overlap")
    if arguments.updates < 1 or arguments.repeats < 1:
        raise ConfigError("--updates and --repeats must be at least 1")
    measured = _measure(arguments)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def _measure(arguments: OverlapArguments) -> dict[str, Any]:
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


def _medians(timings: list[Timing]) -> dict[str, float]:
    return {
        "collect_seconds": median(timing.collect_seconds for timing in timings),
        "learn_seconds": median(timing.learn_seconds for timing in timings),
        "total_seconds": median(timing.total_seconds for timing in timings),
        "decisions_per_second": median(timing.decisions_per_second for timing in timings),
    }


def _show(measured: dict[str, Any]) -> None:
    title = f"{measured['preset']}: milliseconds an update ({measured['decisions_per_update']:,} decisions)"
    table = Table("", "collect", "learn", "total", "decisions/s", title=title)
    for lag in ("lag_0", "lag_1"):
        row = measured[lag]
        seconds = (row["collect_seconds"], row["learn_seconds"], row["total_seconds"])
        cells = [f"{1000 * value:.1f}" for value in seconds]
        table.add_row(lag.replace("_", " "), *cells, f"{row['decisions_per_second']:,.0f}")
    Console().print(table)
    print(f"lag 1 makes an update {measured['ratio']:.2f} times as fast as lag 0")
