"""respawn bench train."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.bench_files import FileOption, ResultFiles
from respawn.cli.bench_rows import Keep, Measured, carry_through, check_sizes, print_rows, rows_of
from respawn.cli.bench_settings import split_settings, trained
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.progress import Tell
from respawn.cli.wording import counted
from respawn.contracts.settings import check_above
from respawn.errors import ConfigError
from respawn.presets import check_preset_name

NAMES = {"sb3": "Stable-Baselines3", "sb3_vector": "the same with all lanes in one call"}
LABELS = {"sb3": "SB3", "sb3_vector": "SB3, 1 call"}
NOTE = (
    "Decisions that were collected and learned from in a second, over all turns. sb3: Stable-Baselines3's PPO with the "
    "same network, lanes, steps, passes and minibatches, and a list of environments, as its users have it; sb3_vector: "
    "the same with all lanes in one call; of one thread and one per core the faster counts. Ratio: to sb3, median of "
    "the turns."
)


@dataclass(frozen=True)
class TrainArguments:
    """Decisions a second that trainings learn from, beside Stable-Baselines3's PPO.

    It has the same network and world, and is left out where it cannot do the same.

    Collecting and learning count; warm-up, evaluations, checkpoints do not.

    All take turns. One that fails becomes a row with its error, the exit code is 1.

    After -- come settings as 'respawn train PRESET' takes them.
    """

    presets: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[PRESET ...]")] = ("mario",)
    """what to train"""
    lanes: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = ()
    """parallel copies of the world, each number measured by itself; none: the preset's"""
    horizon: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = ()
    """steps a rollout, each number measured by itself; none: the preset's"""
    rounds: int = 5
    """turns of each"""
    seconds: float = 4.0
    """of each turn; an update that has begun is finished"""
    device: str = "auto"
    """where to compute: auto, cpu, cuda or cuda:N; Stable-Baselines3 always has the CPU"""
    no_peers: bool = False
    """leave Stable-Baselines3 out"""
    peers: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """the folder of the peer's script; none: benchmarks/peers of the source tree"""
    peers_python: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the Python that has Stable-Baselines3; none: this one"""
    csv: FileOption = None
    """write all rows to a CSV file"""
    markdown: FileOption = None
    """write a table with the machine, the command and the commit to a Markdown file"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    own, settings = split_settings(words)
    arguments = parse(TrainArguments, own, "respawn bench train")
    check_at_least(arguments, {"rounds": 1})
    check_above("--", arguments, {"seconds": 0})
    check_sizes(arguments, {"lanes": 1, "horizon": 1})
    for preset in arguments.presets:
        check_preset_name(preset)
    if arguments.peers is not None and not (arguments.peers / "train_sb3.py").is_file():
        raise ConfigError(f"--peers wants the folder that train_sb3.py is in, and it is not in {arguments.peers}")
    if arguments.peers_python is not None and shutil.which(arguments.peers_python) is None:
        raise ConfigError(f"--peers-python wants a Python to run the peer with, and {arguments.peers_python} is none")
    title = (
        f"{', '.join(dict.fromkeys(arguments.presets))}: {counted(arguments.rounds, 'turn')} of {arguments.seconds:g} s"
    )
    files = ResultFiles(arguments.csv, arguments.markdown, f"Training: {title}", (NOTE,))
    return carry_through(
        files,
        lambda tell, keep: _measure(arguments, settings, tell, keep),
        lambda measured: _show(title, measured),
        as_json=arguments.json,
    )


def _measure(arguments: TrainArguments, settings: list[str], tell: Tell, keep: Keep) -> Measured:
    configs = {
        preset: trained(preset, settings, device=arguments.device) for preset in dict.fromkeys(arguments.presets)
    }
    # Imported only now: what is above needs no torch, which takes seconds to load.
    with engine_must_be_built():
        from respawn.training.bench_peer import why_alone
        from respawn.training.bench_train import TrainPlan, measure_training
    folder = _peers(arguments)
    if folder is not None:
        for preset, config in configs.items():
            reason = why_alone(config)
            if reason:
                print(f"respawn: {preset} is measured without a peer: {reason}", file=sys.stderr)
    python = str(arguments.peers_python or sys.executable)
    lanes, horizons = arguments.lanes or (None,), arguments.horizon or (None,)
    plan = TrainPlan(lanes, horizons, arguments.rounds, arguments.seconds, folder, python)

    def about(cells: list[dict[str, Any]]) -> Measured:
        only = {name: said for name, said in cells[0].items() if name != "rows"} if len(cells) == 1 else {}
        sizes = {"rounds": arguments.rounds, "seconds": arguments.seconds, "settings": settings}
        return {**only, **sizes, "cells": cells}

    measured = about(measure_training(configs, plan, tell, lambda cells: keep(about(cells))))
    missing = sorted({name for cell in measured["cells"] for name in cell["peers_not_installed"]})
    if missing:
        names = ", ".join(missing)
        print(f"respawn: {names} is not installed, so only we are measured; 'make setup' installs it", file=sys.stderr)
    return measured


def _peers(arguments: TrainArguments) -> Path | None:
    if arguments.no_peers:
        return None
    from respawn.worlds.mario.measure_engine import default_peers

    folder = arguments.peers or default_peers()
    if folder is None:
        print("respawn: no peer is measured: its script is in the source tree only", file=sys.stderr)
    return folder


def _show(title: str, measured: Measured) -> None:
    cells = measured["cells"]
    rows = [{**row, "mode": LABELS.get(row["mode"], row["mode"])} for row in rows_of(measured)]
    without = ["lag", "actors", "updates_per_sec_mean", "frames_per_sec", "replay_fill_final", "idle_share"]
    is_one = len({cell["preset"] for cell in cells}) == 1
    without += ["collect_share", "learn_share", *(["of"] if is_one else ["threads"])]
    print_rows(title, rows, without=without)
    if len(cells) > 1:
        return
    for name, peer in cells[0]["peers"].items():
        print(f"respawn learns {peer['ratio']:.1f} times as fast as {NAMES[name]}")
    if "update_milliseconds" in cells[0]:
        phases = ", ".join(f"{name} {value:.0f}" for name, value in cells[0]["update_milliseconds"].items())
        print(f"milliseconds an update: {phases}")
