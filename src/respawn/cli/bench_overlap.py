"""respawn bench overlap."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.bench_files import FileOption, ResultFiles
from respawn.cli.bench_rows import Keep, Measured, carry_through, check_sizes, print_rows, rows_of
from respawn.cli.bench_settings import DECIDED, split_settings, trained
from respawn.cli.progress import Tell
from respawn.cli.wording import counted
from respawn.contracts.settings import check_between
from respawn.errors import ConfigError
from respawn.presets import check_preset_name

NOTE = (
    "Decisions that were collected and learned from in a second, over all updates that count; those at the beginning "
    "of each turn are dropped. Collect, learn and idle are shares of that time: with lag 1 and with actors collecting "
    "goes on beside learning, and idle is the learner waiting for it. Lanes are those of each process that collects. "
    "Ratio: to sync of the same lanes and steps, where that is measured, median of the turns. CUDA graphs, where a "
    "preset has them, are for sync alone."
)


_DECIDED = {
    **DECIDED,
    "--collection.lag": "give --lags before the --",
    "--collection.actors": "give --actors before the --",
    "--collection.threaded": "leave it out, for what collects beside learning is what is measured",
    "--threads": "give --threads before the --",
}


@dataclass(frozen=True)
class OverlapArguments:
    """How fast a training goes that collects in turn, beside learning, or in actors.

    Each is a process of its own; those of the same lanes and steps take turns.

    One that fails becomes a row with its error, and the exit code is 1.

    After -- come settings as 'respawn train PRESET' takes them.
    """

    preset: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[PRESET]")] = "cartpole-ppo"
    """what to train meanwhile"""
    lanes: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = ()
    """parallel copies of the world, each number measured by itself; none: the preset's"""
    horizon: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = ()
    """steps a rollout, each number measured by itself; none: the preset's"""
    lags: Annotated[tuple[Literal[0, 1], ...], tyro.conf.arg(metavar="N [N ...]")] = (0, 1)
    """0: collect, then learn; 1: collect while learning"""
    actors: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = (0,)
    """processes that collect, each number measured by itself; 0: as --lags says"""
    updates: int = 20
    """updates a turn, those that are dropped included"""
    warmup_fraction: float = 0.3
    """share of each turn's updates that is dropped; at least three, and those begun before the turn"""
    repeats: int = 3
    """turns of each"""
    threads: int | None = None
    """threads that torch computes with; none: the preset's, 0: one per core"""
    device: str = "auto"
    """where to compute: auto, cpu, cuda or cuda:N"""
    csv: FileOption = None
    """write all rows to a CSV file"""
    markdown: FileOption = None
    """write a table with the machine, the command and the commit to a Markdown file"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    own, settings = split_settings(words)
    arguments = parse(OverlapArguments, own, "respawn bench overlap")
    check_at_least(arguments, {"updates": 1, "repeats": 1, "threads": 0})
    check_between("--", arguments, {"warmup_fraction": (0.0, 0.9)})
    check_sizes(arguments, {"lanes": 1, "horizon": 1, "actors": 0})
    if not arguments.lags or not arguments.actors:
        raise ConfigError("--lags wants 0, 1 or both and --actors numbers of them, and for one of the two nothing came")
    check_preset_name(arguments.preset)
    title = f"{arguments.preset}: {counted(arguments.repeats, 'turn')} of {counted(arguments.updates, 'update')}"
    files = ResultFiles(arguments.csv, arguments.markdown, f"Overlap: {title}", (NOTE,))
    return carry_through(
        files,
        lambda tell, keep: _measure(arguments, settings, tell, keep),
        lambda measured: _show(title, measured),
        as_json=arguments.json,
    )


def _measure(arguments: OverlapArguments, settings: list[str], tell: Tell, keep: Keep) -> Measured:
    config = trained(arguments.preset, settings, device=arguments.device, threads=arguments.threads, decided=_DECIDED)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.bench_case import Way
    from respawn.training.bench_overlap import OverlapPlan, measure_overlap
    from respawn.training.bench_pacing import CountedPacing

    ways = [Way(lag=lag) for lag in dict.fromkeys(arguments.lags)] if 0 in arguments.actors else []
    ways += [Way(actors=count) for count in dict.fromkeys(arguments.actors) if count]
    plan = OverlapPlan(
        ways=tuple(ways),
        lanes=arguments.lanes or (None,),
        horizons=arguments.horizon or (None,),
        pacing=CountedPacing(arguments.updates, arguments.warmup_fraction),
        repeats=arguments.repeats,
    )

    def about(cells: list[dict[str, Any]]) -> Measured:
        return {
            "preset": arguments.preset,
            "settings": settings,
            "updates": arguments.updates,
            "warmup_fraction": arguments.warmup_fraction,
            "repeats": arguments.repeats,
            "threads": config.threads,
            **(_lags(cells[0]) if len(cells) == 1 else {}),
            "cells": cells,
        }

    return about(measure_overlap(arguments.preset, config, plan, tell, lambda cells: keep(about(cells))))


def _lags(cell: dict[str, Any]) -> dict[str, Any]:
    """Of the only cell: seconds an update with either lag, and their ratio."""
    said: dict[str, Any] = {"decisions_per_update": cell["lanes"] * cell["horizon_steps"]}
    for name, mode in (("lag_0", "sync"), ("lag_1", "overlap")):
        turns = cell["turns"].get(mode)
        if turns:
            updates, seconds = sum(turn["updates"] for turn in turns), sum(turn["seconds"] for turn in turns)
            row = next(row for row in cell["rows"] if row["mode"] == mode)
            said[name] = {
                "collect_seconds": row["collect_share"] * seconds / updates,
                "learn_seconds": row["learn_share"] * seconds / updates,
                "total_seconds": seconds / updates,
                "decisions_per_second": row["steps_per_sec_mean"],
            }
    if "lag_0" in said and "lag_1" in said:
        said["ratio"] = next(row["ratio"] for row in cell["rows"] if row["mode"] == "overlap")
    return said


def _show(title: str, measured: Measured) -> None:
    rows = [{**row, "mode": f"actors {row['actors']}" if row["actors"] else row["mode"]} for row in rows_of(measured)]
    without = ["of", "lag", "actors", "threads", "updates_per_sec_mean", "frames_per_sec", "replay_fill_final"]
    if any(row["gpu_util_mean_window"] is not None for row in rows):
        without.append("spread")
    dropped = {count for cell in measured["cells"] for count in cell["updates_dropped"].values()}
    counts = " or ".join(map(str, sorted(dropped)))
    print_rows(f"{title}, the first {counts} of each dropped", rows, without=without)
    if "ratio" in measured:
        print(f"lag 1 makes an update {measured['ratio']:.2f} times as fast as lag 0")
