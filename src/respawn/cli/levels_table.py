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
    target.print(_table(levels, whole_game=found["whole_game"]))
    mastered = f"{100 * found['mastered_rate']:.0f} % of the episodes or more"
    print_facts(
        f"from {found['mastered_levels']} of {len(levels)} levels the game is won in {mastered}"
        if found["whole_game"]
        else f"{found['mastered_levels']} of {len(levels)} levels cleared in {mastered}",
        {
            **({"reached": _reached(levels)} if found["whole_game"] else {}),
            "columns": _columns(found),
            "chance": _chance(found),
            "seeds": _seeds(levels),
            "checkpoint": found["checkpoint"],
            "weights": found["weights_sha256"],
        },
    )


def _seeds(levels: dict[str, dict[str, Any]]) -> str:
    """Each level has its own, far from the others'."""
    first, last = next(iter(levels.values()))["seeds"]
    return f"{first} to {last}" + (f" in {next(iter(levels))}; as many in each level" if len(levels) > 1 else "")


def _table(levels: dict[str, dict[str, Any]], *, whole_game: bool) -> Table:
    """A row a level. Of whole games, which few win and in which x says little, how many flags instead."""
    table = new_table()
    beside = _shown_beside(levels)
    table.add_column("from" if whole_game else "level", no_wrap=True)
    middle = "flags" if whole_game else "x"
    for column in (_won(whole_game), "95 %", *(_BESIDE[name] for name in beside), middle, "seconds"):
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
            _number(level["flags_mean"], ".1f") if whole_game else _number(level["x_mean"], ",.0f"),
            _number(level["cleared_seconds_mean"], ".1f"),
            ", ".join(f"{end} {count}" for end, count in level["ends"].items()),
        )
    return table


def _won(whole_game: bool) -> str:
    return "won" if whole_game else "cleared"


def _reached(levels: dict[str, dict[str, Any]]) -> str:
    """In which levels whole games ended, and how many: there may be 32, too many for a column."""
    by_start = {
        start: ", ".join(f"{name} {count}" for name, count in level["reached"].items())
        for start, level in levels.items()
    }
    return "; ".join(f"from {start}: {where}" for start, where in by_start.items())


def _columns(found: dict[str, Any]) -> str:
    """What the columns mean that are there."""
    beside = {
        "sampled": "actions drawn as in training",
        "always_right": f"holding {found['always_right_holds']}",
        "random": "any action",
    }
    won = _won(found["whole_game"])
    middle = "flags on average" if found["whole_game"] else "x"
    meanings = {f"{won}, 95 % interval, {middle}, ends": "of the likeliest actions", "seconds": f"of {won} episodes"}
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
