"""respawn bench replay."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.tables import console, new_table
from respawn.errors import ConfigError

MOST_ENTRIES = 100_000_000
"""Some gigabytes; no replay is larger."""


@dataclass(frozen=True)
class ReplayArguments:
    """Time to draw entries by priority: sum tree, running sums, NumPy's choice.

    All are measured in turn over the same priorities; the median counts. Let
    nothing else run meanwhile.
    """

    sizes: tuple[int, ...] = (100_000, 1_000_000)
    """entries to draw from"""
    draws: int = 256
    """entries drawn at a time"""
    rounds: int = 15
    """how often each thing is measured"""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where the running sums are; auto: a GPU if there is one"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(ReplayArguments, words, "respawn bench replay")
    check_at_least(arguments, {"draws": 1, "rounds": 1})
    if not arguments.sizes or min(arguments.sizes) < arguments.draws:
        raise ConfigError(
            f"--sizes wants numbers of entries, none under the {arguments.draws} of --draws, and is "
            f"{' '.join(map(str, arguments.sizes)) or 'empty'}"
        )
    if max(arguments.sizes) > MOST_ENTRIES:
        raise ConfigError(f"--sizes must be at most {MOST_ENTRIES:,}, not {max(arguments.sizes):,}")
    measured = _measure(arguments)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def _measure(arguments: ReplayArguments) -> dict[str, Any]:
    # Imported only now: what is above needs no torch, which takes seconds to load.
    import torch

    from respawn.memory.measure_samplers import measure_samplers

    has_gpu = torch.cuda.is_available()
    if arguments.device == "cuda" and not has_gpu:
        raise ConfigError("--device cuda wants a GPU that torch can use, and there is none; leave it out")
    device = torch.device("cuda" if has_gpu and arguments.device != "cpu" else "cpu")
    return {
        "draws": arguments.draws,
        "rounds": arguments.rounds,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "sizes": {
            str(size): measure_samplers(size, arguments.draws, arguments.rounds, device) for size in arguments.sizes
        },
    }


def _show(measured: dict[str, Any]) -> None:
    table = new_table()
    for label in ("entries", "NumPy", "tree", "device", "set tree", "set dev.", "tree x", "dev. x"):
        table.add_column(label, justify="right", no_wrap=True)
    for size, row in measured["sizes"].items():
        times = (row[f"{name}_ms"] for name in ("numpy", "tree", "device", "tree_set", "device_set"))
        ratios = (row["tree_times_numpy"], row["device_times_numpy"])
        table.add_row(f"{int(size):,}", *(f"{each:.3f}" for each in times), *(f"{each:.0f}" for each in ratios))
    target = console()
    target.print(
        f"milliseconds for {measured['draws']} entries, median of {measured['rounds']}; device: {measured['device']}",
        markup=False,
    )
    target.print(table)
    target.print("x: times as fast as numpy.random.choice(p=...)")
