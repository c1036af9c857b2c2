"""respawn bench train."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table
from respawn.contracts.settings import check_above
from respawn.errors import ConfigError
from respawn.presets import check_preset_name, find_preset

LABELS = {"sb3": "Stable-Baselines3", "sb3_vector": "the same, lanes in one call"}


@dataclass(frozen=True)
class TrainArguments:
    """Decisions a second that a training learns from, beside Stable-Baselines3's PPO with the same network and world.

    Collecting and learning count; warm-up, evaluations and checkpoints do not. All is measured in turn; the median
    counts. Let nothing else run meanwhile.
    """

    preset: str = "mario"
    """what to train: a PPO preset on Mario's tiles"""
    rounds: int = 5
    """how often each thing is measured"""
    seconds: float = 4.0
    """how long, each time; an update that has begun is finished"""
    peers: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """the folder of the peer's script; none: benchmarks/peers of the source tree"""
    peers_python: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the Python that has Stable-Baselines3; none: this one"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(TrainArguments, words, "respawn bench train")
    check_at_least(arguments, {"rounds": 1})
    check_above("--", arguments, {"seconds": 0})
    check_preset_name(arguments.preset)
    if arguments.peers is not None and not (arguments.peers / "train_sb3.py").is_file():
        raise ConfigError(f"--peers wants the folder that train_sb3.py is in, and it is not in {arguments.peers}")
    if arguments.peers_python is not None and shutil.which(arguments.peers_python) is None:
        raise ConfigError(f"--peers-python wants a Python to run the peer with, and {arguments.peers_python} is none")
    measured = measure(arguments)
    for sentence in measured["peers_failed"].values():
        print(f"respawn: {sentence}", file=sys.stderr)
    if measured["peers_not_installed"]:
        names = ", ".join(measured["peers_not_installed"])
        print(f"respawn: {names} is not installed, so only we are measured; 'make setup' installs it", file=sys.stderr)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def measure(arguments: TrainArguments) -> dict[str, Any]:
    """All that the arguments ask for, as plain data."""
    # Imported only now: what is above needs no torch, which takes seconds to load.
    with engine_must_be_built():
        from respawn.training.bench_train import Plan, measure_training
        from respawn.worlds.mario.measure_engine import default_peers
    folder = arguments.peers or default_peers()
    if folder is None:
        print("respawn: no peer is measured: its script is in the source tree only", file=sys.stderr)
    python = str(arguments.peers_python or sys.executable)
    plan = Plan(find_preset(arguments.preset), arguments.rounds, arguments.seconds, folder, python)
    with progress_bar(lines=True) as tell:
        return {"preset": arguments.preset, **measure_training(plan, tell)}


def _show(measured: dict[str, Any]) -> None:
    target = console()
    target.print(
        f"{measured['preset']}: {measured['lanes']} lanes of {measured['horizon_steps']} steps an update, "
        f"median of {measured['rounds']} x {measured['seconds']:g} s",
        markup=False,
    )
    table = new_table()
    for label in ("trained by", "decisions/s", "spread", "threads", "ratio"):
        table.add_column(label, justify="left" if label == "trained by" else "right", no_wrap=True)
    table.add_row("respawn", *_pace(measured), str(measured["threads"]), "")
    for name, peer in measured["peers"].items():
        table.add_row(LABELS[name], *_pace(peer), str(peer["threads"]), f"{peer['ratio']:.1f}")
    target.print(table)
    phases = ", ".join(f"{name} {value:.0f}" for name, value in measured["update_milliseconds"].items())
    target.print(f"milliseconds an update of ours: {phases}", markup=False)
    from respawn.training.bench_train import QUIET_CORES

    if measured["others_cores"] > QUIET_CORES:
        target.print(
            f"[yellow]warning[/]: others kept {measured['others_cores']:.1f} cores at work: "
            "measure again when they are done"
        )


def _pace(row: dict[str, Any]) -> tuple[str, str]:
    spread = (row["spread"]["max"] - row["spread"]["min"]) / row["decisions_per_second"]
    return f"{row['decisions_per_second']:,.0f}", f"{100 * spread:.0f} %"
