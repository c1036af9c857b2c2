"""respawn bench engine."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.markup import escape
from rich.table import Table

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, fits, new_table
from respawn.contracts.settings import check_above, check_between
from respawn.errors import ConfigError
from respawn.worlds.mario.rom import Rom, find_rom

MOST_LANES = 65_536
QUIET_CPU_SHARE = 0.95
"""with less of its core than this, a measurement was not alone"""
_WIDEST_PEER = 10
_SPREAD = "spread"

ROWS = {
    "decisions_per_second": "grey 84x84, stack of 4",
    "decisions_per_second_max_of_two": "the same, max of two",
    "decisions_per_second_no_draw": "nothing drawn",
    "interpreter_decisions_per_second": "interpreter, grey 84x84",
    "interpreter_decisions_per_second_no_draw": "interpreter, nothing drawn",
}


@dataclass(frozen=True)
class EngineArguments:
    """Decisions a second of the NES engine on one core, beside those of its peers.

    A decision is four frames of Super Mario Bros. with the same random buttons.

    All is measured in turn; the median counts. Let nothing else run meanwhile.
    """

    rounds: int = 5
    """how often each thing is measured"""
    seconds: float = 1.0
    """how long, each time"""
    lanes: int = 64
    """parallel consoles"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the game; none: RESPAWN_ROM, the user's config, the ROM composed before in the cache, or one composed now from an
    installed gym-super-mario-bros"""
    peers: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """the folder of the peers' scripts; none: benchmarks/peers of the source tree"""
    peers_python: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the Python that has the peers; none: this one"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(EngineArguments, words, "respawn bench engine")
    check_at_least(arguments, {"rounds": 1})
    check_between("--", arguments, {"lanes": (1, MOST_LANES)})
    check_above("--", arguments, {"seconds": 0})
    if arguments.peers is not None and not arguments.peers.is_dir():
        raise ConfigError(f"--peers wants a folder with the peers' scripts, and {arguments.peers} is none")
    if arguments.peers is not None and not any(arguments.peers.glob("peer_*.py")):
        raise ConfigError(f"--peers wants a folder with scripts called peer_NAME.py, and {arguments.peers} has none")
    if arguments.peers_python is not None and shutil.which(arguments.peers_python) is None:
        raise ConfigError(f"--peers-python wants a Python to run the peers with, and {arguments.peers_python} is none")
    rom = find_rom(arguments.rom, expect="ntsc")
    measured = measure(arguments, rom)
    for sentence in measured["peers_failed"].values():
        print(f"respawn: {sentence}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def measure(arguments: EngineArguments, rom: Rom) -> dict[str, Any]:
    """All that the arguments ask for, as plain data."""
    with engine_must_be_built():
        from respawn.worlds.mario import measure_engine
        from respawn.worlds.mario.engine import open_cartridge
    folder = arguments.peers or measure_engine.default_peers()
    if folder is None:
        print("respawn: no peers are measured: their scripts are in the source tree only", file=sys.stderr)
    python = str(arguments.peers_python or sys.executable)
    plan = measure_engine.Plan(arguments.lanes, arguments.rounds, arguments.seconds, folder, python)
    cartridge = open_cartridge(rom)  # before the bar: compiling, the first time, has a line of its own
    with progress_bar(lines=True) as tell:
        return measure_engine.measure_engine(cartridge, rom, plan, tell)


def _show(measured: dict[str, Any]) -> None:
    target = console()
    how = "recompiled" if measured["recompiled"] else "interpreted"
    target.print(
        f"{measured['lanes']} consoles on one core, {how}, {measured['simd_path']}; "
        f"median of {measured['rounds']} x {measured['seconds']:g} s",
        markup=False,
    )
    rows = list(_rows(measured))
    columns = [_SPREAD, *measured["peers"]]
    # What is dropped where room is short can be worked out from what stays: the peers have rows of their own.
    while columns and not fits(_table(rows, columns), target):
        columns.pop(0 if _SPREAD in columns else -1)
    target.print(_table(rows, columns))
    _show_rest(measured)


def _table(rows: list[tuple[str, str, Mapping[str, str]]], columns: list[str]) -> Table:
    table = new_table()
    table.add_column("decisions a second", overflow="fold")
    table.add_column("median", justify="right", no_wrap=True)
    for name in columns:
        label = name if name == _SPREAD else "\n".join(textwrap.wrap(f"x {name}", _WIDEST_PEER))
        table.add_column(escape(label), justify="right", no_wrap=True)
    for label, pace, cells in rows:
        table.add_row(escape(label), pace, *(cells.get(name, "") for name in columns))
    return table


def _rows(measured: dict[str, Any]) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Of each row the label, the median and the other cells, by the names of their columns."""
    peers: dict[str, float] = {name: peer["decisions_per_second"] for name, peer in measured["peers"].items()}
    ours = {name: (label, measured[name]) for name, label in ROWS.items()}
    for path, pace in measured["by_path"].items():
        if path != measured["simd_path"]:
            ours[f"by_path.{path}"] = (f"grey 84x84 by {path}", pace)
    for name, (label, pace) in ours.items():
        ratios = {peer: _ratio(pace / theirs) for peer, theirs in peers.items()}
        yield label, f"{pace:,.0f}", {_SPREAD: _spread(measured, name, pace), **ratios}
    for name, pace in peers.items():
        yield name, f"{pace:,.0f}", {_SPREAD: _spread(measured, f"peers.{name}", pace)}


def _spread(measured: dict[str, Any], name: str, pace: float) -> str:
    if measured["rounds"] < 2:
        return "-"
    spread = measured["spread"][name]
    return f"{100 * (spread['max'] - spread['min']) / pace:.0f} %"


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


def _show_rest(measured: dict[str, Any]) -> None:
    target = console()
    scale = measured["two_threads_scale"]
    target.print(f"two threads: {scale:.2f} times one" if scale else "two threads: not measured, there is one core")
    target.print(f"snapshot and restore: {measured['snapshot_us']:.2f} µs a console")
    if measured["peers_not_installed"]:
        names = ", ".join(measured["peers_not_installed"])
        target.print(f"not installed: {names} (make peers)", markup=False)
    share = measured["least_cpu_share"]
    if share < QUIET_CPU_SHARE:
        target.print(
            f"[yellow]warning[/]: a measurement had only {100 * share:.0f} % of its core, so others were at work: "
            "measure again when they are done"
        )
