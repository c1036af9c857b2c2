"""A table of levels for people: a row a level, and how many are mastered."""

from typing import Any

from rich.table import Table

from respawn.cli.tables import console, new_table, print_facts

_BESIDE = {"sampled": "sampled", "always_right": "right", "random": "random"}
"""Policies whose clear rates stand beside the greedy one's, and their columns."""


def show_levels(found: dict[str, Any]) -> None:
    """Show what `respawn evaluate --json` would print."""
    levels: dict[str, dict[str, Any]] = found["levels"]
    target = console()
    target.print(f"{found['run']}: {found['episodes']:,} episodes a level", style="bold", markup=False)
    target.print(_table(levels))
    last = max(level["seeds"][1] for level in levels.values())
    print_facts(
        f"{found['mastered_levels']} of {len(levels)} levels cleared in {100 * found['mastered_rate']:.0f} % "
        "of the episodes or more",
        {
            "columns": _columns(found),
            "chance": _chance(found),
            "seeds": f"{min(level['seeds'][0] for level in levels.values())} to {last}",
            "checkpoint": found["checkpoint"],
            "weights": found["weights_sha256"],
        },
    )


def _table(levels: dict[str, dict[str, Any]]) -> Table:
    table = new_table()
    beside = _shown_beside(levels)
    table.add_column("level", no_wrap=True)
    for column in ("cleared", "95 %", *(_BESIDE[name] for name in beside), "x", "seconds"):
        table.add_column(column, justify="right", no_wrap=column not in _BESIDE.values())
    table.add_column("ends", overflow="fold")
    for name, level in levels.items():
        others = _others(level)
        low, high = level["interval"]
        table.add_row(
            name,
            f"{level['cleared']}/{level['episodes']}",
            f"{100 * low:.0f} to {100 * high:.0f} %",
            *(f"{100 * others[other]['clear_rate']:.0f} %" if other in others else "" for other in beside),
            _number(level["x_mean"], ",.0f"),
            _number(level["cleared_seconds_mean"], ".1f"),
            ", ".join(f"{end} {count}" for end, count in level["ends"].items()),
        )
    return table


def _columns(found: dict[str, Any]) -> str:
    """What the columns mean that are there."""
    beside = {
        "sampled": "actions drawn as in training",
        "always_right": f"holding {found['always_right_holds']}",
        "random": "any action",
    }
    meanings = {"cleared, 95 % interval, x, ends": "of the likeliest actions", "seconds": "of cleared episodes"}
    meanings |= {_BESIDE[name]: beside[name] for name in _shown_beside(found["levels"])}
    return "; ".join(f"{column}: {meaning}" for column, meaning in meanings.items())


def _shown_beside(levels: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name in _BESIDE if any(name in _others(level) for level in levels.values())]


def _others(level: dict[str, Any]) -> dict[str, Any]:
    sampled = {"sampled": level["sampled"]} if "sampled" in level else {}
    return {**sampled, **level.get("null_policies", {})}


def _chance(found: dict[str, Any]) -> str:
    """What made the episodes differ, and how much: a greedy policy and few starts make few of them."""
    noops = f", no-op starts 0 to {found['noop_starts']}" if found["noop_starts"] else ""
    different = [level["courses"] for level in found["levels"].values()]
    fewest, most = min(different), max(different)
    spread = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return (
        f"start jitter 0 to {found['start_jitter']} frames, sticky {found['sticky']:g}{noops}; "
        f"{spread} different greedy episodes of {found['episodes']}"
    )


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
