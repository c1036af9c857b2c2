"""respawn runs list|show|inspect|summary|compare|export."""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from respawn.cli.arguments import HELP, RunName, RunsDirectory, parse
from respawn.cli.description import describe, evaluation_of_late, newest_count, print_description, return_of_late
from respawn.cli.tables import console, fits, new_table, number
from respawn.errors import ConfigError, RespawnError
from respawn.runs.layout import ListedRun, find, list_runs

USAGE = """usage: respawn runs {list,show,inspect,summary,compare,export} [...]

  list              every run under --runs, the newest first
  show RUN          one run: what it is, how far it came, what can be resumed
  inspect RUN       one run: what went wrong, and what to do about it
  summary RUN ...   the newest numbers: last value, mean, spread, extremes
  compare RUN RUN   what differs between runs: settings and results
  export RUN        all rows of a run as Parquet, CSV or JSON files

'respawn runs list --help' and so on say more."""

LEAST_NAME = 12
"""Names are broken into no shorter pieces, so that in a list's last resort there is still something to read."""

_CELLS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "world": lambda row: str(row["world"]),
    "updates": lambda row: number(newest_count(row, "updates")),
    "decisions": lambda row: number(newest_count(row, "decisions")),
    "return": lambda row: number(return_of_late(row)),
    "evaluation": evaluation_of_late,
}
"""Columns of a list beside name and status."""

STYLES = {"running": "green", "finished": "", "stopped": "cyan", "killed": "yellow", "failed": "red", "broken": "red"}


@dataclass(frozen=True)
class ListArguments:
    """Every run, the newest first."""

    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


@dataclass(frozen=True)
class ShowArguments:
    """One run: what it is, how far it came, what can be resumed."""

    run: RunName
    """name of the run, or path of its folder"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Read run folders."""
    commands: dict[str, Callable[[list[str]], None]] = {
        "list": _list,
        "show": _show,
        "inspect": _in_its_file("inspect"),
        "summary": _in_its_file("summary"),
        "compare": _in_its_file("compare"),
        "export": _in_its_file("export"),
    }
    if words and words[0] in HELP:
        print(USAGE)
        return 0
    if not words or words[0] not in commands:
        came = f"not '{words[0]}'" if words else "and nothing came"
        raise ConfigError(f"'respawn runs' wants one of {', '.join(commands)}, {came}; see 'respawn runs --help'")
    commands[words[0]](words[1:])
    return 0


def _in_its_file(verb: str) -> Callable[[list[str]], None]:
    """A verb that has a file of its own, which is read when it is used."""

    def call(words: list[str]) -> None:
        importlib.import_module(f"respawn.cli.runs_{verb}").main(words)

    return call


def _list(words: list[str]) -> None:
    arguments = parse(ListArguments, words, "respawn runs list")
    rows = [_described(run) for run in list_runs(arguments.runs)]
    if arguments.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        _show_list(rows)
    else:
        print(f"There are no runs in {arguments.runs.absolute()}. Name another folder with --runs DIR.")
        print("Begin one with: respawn train")


def _described(run: ListedRun) -> dict[str, Any]:
    """A run's description; one broken folder must not hide the others, so what is wrong with it is its description."""
    problem = run.problem
    if problem is None:
        try:
            return describe(run.folder)
        except RespawnError as error:
            problem = str(error)
    return {"name": run.folder.name, "path": str(run.folder.path), "status": "broken", "problem": problem}


def _show_list(rows: list[dict[str, Any]]) -> None:
    target = console()
    target.print(_fitting(rows, target))
    for row in rows:
        if row["problem"]:
            print(f"{row['name']} is broken: {row['problem']}")


def _fitting(rows: list[dict[str, Any]], target: Console) -> Table:
    """All columns, or where they do not fit, fewer: a number of which the end is cut off looks like another number.

    First those go which the names of runs mostly say anyway, then names are broken, which cannot be copied then.
    """
    names = list(_CELLS)
    for name in ("world", "decisions", "updates", "return", "evaluation"):
        may_break = not {"world", "decisions"} & set(names)
        if fits(_table(rows, names, LEAST_NAME if may_break else None), target):
            break
        names.remove(name)
    return _table(rows, names)


def _table(rows: list[dict[str, Any]], names: Sequence[str], most_name: int | None = None) -> Table:
    """Runs with some of the columns; `most_name` is how wide names may be."""
    table = new_table()
    table.add_column("run", overflow="fold", max_width=most_name)
    table.add_column("status", no_wrap=True)
    for name in names:
        table.add_column(name, justify="left" if name == "world" else "right", no_wrap=True)
    for row in rows:
        status = f"[{STYLES[row['status']] or 'default'}]{row['status']}[/]"
        cells = [escape(_CELLS[name](row)) for name in names] if "world" in row else []
        table.add_row(escape(row["name"]), status, *cells)
    return table


def _show(words: list[str]) -> None:
    arguments = parse(ShowArguments, words, "respawn runs show")
    described = describe(find(arguments.runs, arguments.run))
    if arguments.json:
        print(json.dumps(described, indent=2))
    else:
        print_description(described)
