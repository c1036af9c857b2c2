"""respawn bench engine."""

import json
import shutil
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.markup import escape

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table
from respawn.contracts.settings import check_above, check_between
from respawn.errors import ConfigError, WorldError
from respawn.worlds.mario.rom import Rom, find_rom

MOST_LANES = 65_536
QUIET_CPU_SHARE = 0.95
"""with less of its core than this, a measurement was not alone"""
_WIDEST_PEER = 12

ROWS = {
    "decisions_per_second": "grey 84x84, stack of 4",
    "decisions_per_second_max_of_two": "the same, max of two frames",
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
    """the game; none: RESPAWN_ROM, the user's config, an installed gym-super-mario-bros"""
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
    try:
        # Imported only now: mistakes in the arguments need no compiled code.
        from respawn.worlds.mario import measure_engine
        from respawn.worlds.mario.engine import open_cartridge
    except ImportError as error:
        raise WorldError(f"the NES engine is not built here ({error}); run 'make setup'") from None
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
    table = new_table()
    table.add_column("decisions a second", no_wrap=True)
    for label in ("median", "spread"):
        table.add_column(label, justify="right", no_wrap=True)
    peers = measured["peers"]
    for name in peers:
        table.add_column("\n".join(textwrap.wrap(f"x {name}", _WIDEST_PEER)), justify="right", no_wrap=True)
    for name, label in ROWS.items():
        _add_row(table, label, measured[name], measured["spread"][name], peers)
    for path, pace in measured["by_path"].items():
        if path != measured["simd_path"]:
            _add_row(table, f"grey 84x84 by {path}", pace, measured["spread"][f"by_path.{path}"], peers)
    for name, peer in peers.items():
        _add_row(table, name, peer["decisions_per_second"], measured["spread"][f"peers.{name}"], {})
    target.print(table)
    _show_rest(measured)


def _add_row(table: Any, label: str, pace: float, spread: dict[str, float], peers: dict[str, Any]) -> None:
    ratios = [f"{pace / peer['decisions_per_second']:.1f}" for peer in peers.values()]
    spread_percent = 100 * (spread["max"] - spread["min"]) / pace
    table.add_row(escape(label), f"{pace:,.0f}", f"{spread_percent:.0f} %", *ratios)


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
