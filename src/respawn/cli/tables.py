"""Tables for people, which look right on 80 columns and do not break inside a pipe."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDTH_OF_A_PIPE = 120
"""Nobody knows how wide a pipe is; lines that are broken to fit 80 columns are no use to grep."""

_WIDER_THAN_ANY = 100_000
"""Columns, of which a table takes as many as it would like to have."""


class TableConsole(Console):
    """A console that lets whoever calls know that its reader is gone, instead of ending the process."""

    def on_broken_pipe(self) -> None:
        """Raise, where rich would leave with exit code 1."""
        raise BrokenPipeError


def console() -> TableConsole:
    """A console on standard output; it makes no picture of ':x:', which escape() would not keep it from."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return TableConsole(width=None if known else WIDTH_OF_A_PIPE, highlight=False, emoji=False)


def new_table(*, header: bool = True, title: str | None = None) -> Table:
    """An empty table without a frame: two spaces say as much as a line does, in less room."""
    return Table(
        box=box.SIMPLE_HEAD if header else None,
        show_header=header,
        title=title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 2, 0, 0),
    )


def fits(table: Table, target: Console) -> bool:
    """Whether all of a table can be shown without anything in it being broken or cut off."""
    unlimited = target.options.update(width=_WIDER_THAN_ANY)
    return Measurement.get(target, unlimited, table).maximum <= target.width


def fitting(tables: Iterable[Table], otherwise: RenderableType, target: Console) -> RenderableType:
    """The first of some tables that fits, the best first; where none does, what fits everywhere."""
    return next((table for table in tables if fits(table, target)), otherwise)


def in_blocks(things: Iterable[tuple[str, Mapping[str, str]]]) -> RenderableType:
    """Some things, a heading for each and its facts below it, which needs no more room than the longest word in it.

    Args:
      things: the heading of each, and its facts in markup by what they are called; empty ones are left out.
    """
    blocks = list(things)
    width = max((cell_len(label) for _, facts in blocks for label in facts), default=0)
    lines: list[RenderableType] = []
    for heading, facts in blocks:
        lines += [Text(), Text(heading)] if lines else [Text(heading)]
        for label, value in facts.items():
            if value:
                fact = Text.assemble((f"{set_cell_size(label, width)}  ", "dim"), Text.from_markup(value))
                lines.append(Padding(fact, (0, 0, 0, 2), expand=False))
    return Group(*lines)


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """A title, and below it a line for each fact that is not empty; all of it as it is, whatever brackets it holds."""
    table = new_table(header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in facts.items():
        if value:
            table.add_row(Text(label), Text(value))
    target = console()
    target.print(title, style="bold", markup=False)
    target.print(table)


def number(value: Any) -> str:
    """A number short enough to read; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
