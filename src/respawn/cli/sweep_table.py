"""The best trials of a study as a table that can be read, however many settings it has and wherever it is shown."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from respawn.cli.tables import console, fits, new_table, number
from respawn.sweeps.definition import Definition
from respawn.sweeps.figures import short_name
from respawn.sweeps.finals import Final
from respawn.sweeps.rows import TrialRow

MOST_TRIALS = 10


def show_best(ranked: Sequence[TrialRow], definition: Definition, finals: Sequence[Final]) -> None:
    """A line for each of the best trials; where that is too wide, a column for as many of them as there is room for."""
    target = console()
    facts = _facts(ranked[:MOST_TRIALS], definition, finals)
    shown = min(len(ranked), MOST_TRIALS)
    table = next((one for one in (_lines(facts), _lines(facts, wrapped=True)) if fits(one, target)), None)
    if table is None:
        while shown > 1 and not fits(_columns(facts, shown), target):
            shown -= 1
        table = _columns(facts, shown)
    target.print(table)
    if shown < len(ranked):
        wider = ", and a wider window shows more" if shown < min(len(ranked), MOST_TRIALS) else ""
        best = "This is the best" if shown == 1 else f"These are the best {shown}"
        target.print(f"{best} of {len(ranked)} complete trials; --json tells all{wider}.", markup=False)


def value_shown(value: Any) -> str:
    """A setting, short enough to read."""
    if isinstance(value, list):
        return "x".join(str(each) for each in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _facts(rows: Sequence[TrialRow], definition: Definition, finals: Sequence[Final]) -> dict[str, list[str]]:
    """What is told of each trial, by its heading."""
    again = {final.number: final.value for final in finals}
    facts = {
        "trial": [str(row.trial) for row in rows],
        definition.objective.partition("/")[2]: [number(row.value) for row in rows],
        "fresh seeds": [number(again.get(row.trial)) for row in rows],
        "decisions": [number(row.decisions) for row in rows],
    }
    if not again:
        del facts["fresh seeds"]
    for name in definition.space:
        facts[short_name(name, definition.space)] = [value_shown(row.settings.get(name)) for row in rows]
    return facts


def _lines(facts: Mapping[str, Sequence[str]], *, wrapped: bool = False) -> Table:
    """A line for each trial; headings are wrapped to the width of what stands below them, and no word is broken."""
    table = new_table()
    for heading, cells in facts.items():
        width = max(map(len, (*cells, *heading.split())))
        said = "\n".join(textwrap.wrap(heading, width)) if wrapped else heading
        table.add_column(escape(said), justify="right", no_wrap=True)
    for cells in zip(*facts.values(), strict=True):
        table.add_row(*map(escape, cells))
    return table


def _columns(facts: Mapping[str, Sequence[str]], shown: int) -> Table:
    """A column for each of so many trials."""
    table = new_table()
    (heading, trials), *others = facts.items()
    table.add_column(heading, overflow="fold")
    for trial in trials[:shown]:
        table.add_column(trial, justify="right", overflow="fold")
    for heading, cells in others:
        table.add_row(escape(heading), *map(escape, cells[:shown]))
    return table
