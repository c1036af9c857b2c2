"""How a bench is carried through and its rows handed over: as a table, as files, and as an exit code."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rich.markup import escape

from respawn.cli.bench_files import HEADINGS, ResultFiles, Rows, others_told, provenance, shown, used_columns
from respawn.cli.progress import Tell, progress_bar
from respawn.cli.tables import console, new_table
from respawn.errors import ConfigError, RespawnError

Measured: TypeAlias = Mapping[str, Any]
"""All that a bench has to say, as plain data; its `rows` or those of its `cells` are those of the table"""
Keep: TypeAlias = Callable[[Measured], None]

_LEFT = ("of", "mode")


class ResultsError(RespawnError):
    """Something was measured, and its files could not be written, or not all could be measured."""


def carry_through(
    files: ResultFiles, measure: Callable[[Tell, Keep], Measured], show: Callable[[Measured], None], *, as_json: bool
) -> int:
    """Measure, and hand over what was measured: all of it, or what there is when somebody stops it.

    Args:
      files: that are asked for.
      measure: does the work; it tells what it does, and gives all that is known whenever that is more than before.
      show: prints what was measured, for people.
      as_json: print JSON instead.
    """
    known: list[Measured] = []
    unwritten: dict[Path, OSError] = {}

    def keep(measured: Measured) -> None:
        nonlocal unwritten
        known[:] = [measured]
        if rows_of(measured):
            unwritten = files.write(rows_of(measured))  # tried again whenever there is more

    try:
        with progress_bar(lines=True) as tell:
            keep(measure(tell, keep))
    except (KeyboardInterrupt, OSError) as stop:
        if not known or not rows_of(known[0]):
            raise
        _say({**known[0], "interrupted": True}, show, as_json=as_json)
        said = f"before all was measured{_whereabouts(files, unwritten)}"
        if isinstance(stop, OSError):
            raise ResultsError(f"the system refuses, {said}: {stop}; see to that, and measure again") from stop
        stop.add_note(said)
        raise
    measured = known[0]
    for path in files.paths:
        if path not in unwritten:
            print(f"respawn: wrote {path}", file=sys.stderr)
    _say(measured, show, as_json=as_json)
    exit_code = tell_failures(rows_of(measured))
    if unwritten:
        raise ResultsError(
            f"{_listed(unwritten)}, so what is printed above is all there is of it; keep that, or make room or name "
            "another file, and measure again"
        )
    return exit_code


def _whereabouts(files: ResultFiles, unwritten: Mapping[Path, OSError]) -> str:
    """Where that is which was measured, in words that end a sentence."""
    written = [str(path) for path in files.paths if path not in unwritten]
    where = f"; what was is in {' and '.join(written)}" if written else ""
    return where + (f"; {_listed(unwritten)}, what was is above" if unwritten else "")


def _listed(unwritten: Mapping[Path, OSError]) -> str:
    cause = next(iter(unwritten.values())).strerror
    return f"{' and '.join(map(str, unwritten))} could not be written ({cause})"


def _say(measured: Measured, show: Callable[[Measured], None], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**measured, **provenance()}, indent=2))
    else:
        show(measured)


def rows_of(measured: Measured) -> Rows:
    """All rows of a bench."""
    if "rows" in measured:
        rows: Rows = measured["rows"]
        return rows
    return [row for cell in measured["cells"] for row in cell["rows"]]


def print_rows(title: str, rows: Rows, *, without: Sequence[str] = ()) -> None:
    """A table on the terminal, and a warning where others were at work."""
    unseen = {"error", "others_cores", *without}
    columns = [name for name in used_columns(rows) if name not in unseen]
    table = new_table()
    for name in columns:
        table.add_column(HEADINGS[name], justify="left" if name in _LEFT else "right", no_wrap=True)
    for row in rows:
        cells = [escape(shown(name, row.get(name))) for name in columns]
        table.add_row(*cells, style="dim" if row.get("error") else None)
    target = console()
    target.print(title, markup=False)
    target.print(table)
    for sentence in others_told(rows):
        target.print(f"[yellow]warning[/]: {sentence[0].lower()}{sentence[1:]}")


def tell_failures(rows: Rows) -> int:
    """Say which cells failed, and answer the exit code: 1 if any did."""
    failed = [row for row in rows if row.get("error")]
    for row in failed:
        print(f"respawn: {_named(row)} failed: {row['error']}", file=sys.stderr)
    return 1 if failed else 0


def check_sizes(arguments: object, least: Mapping[str, int]) -> None:
    """Refuse numbers that are too small among those of options that take several."""
    for name, smallest in least.items():
        for size in getattr(arguments, name):
            if size < smallest:
                raise ConfigError(f"--{name.replace('_', '-')} must be at least {smallest}, not {size}")


def _named(row: Measured) -> str:
    sizes = " x ".join(str(row[name]) for name in ("num_envs", "rollout") if row.get(name) is not None)
    return " ".join(str(word) for word in (row.get("of"), row["mode"], sizes) if word)
