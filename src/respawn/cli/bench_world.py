"""respawn bench world fish."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table
from respawn.contracts.settings import check_above
from respawn.errors import ConfigError

WORLDS = ("fish",)


@dataclass(frozen=True)
class WorldArguments:
    """Steps a second of a world, beside a plain program that moves one fish after the other.

    Every living fish counts once a step; random actions, all 18 senses, beginnings of new episodes included. Both are
    measured in turn; the median of the rounds counts.
    """

    world: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="WORLD")] = "fish"
    """which world: fish"""
    fish: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = (25, 96)
    """fish in a school, each number measured by itself"""
    schools: int | None = None
    """schools that are stepped together; none: as many as make about 160,000 fish, on a GPU 4 million"""
    rounds: int = 5
    """how often each is measured"""
    seconds: float = 2.0
    """how long, each time"""
    device: str = "cpu"
    """where the world is stepped"""
    no_reference: bool = False
    """leave the plain program out"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(WorldArguments, words, "respawn bench world")
    if arguments.world not in WORLDS:
        raise ConfigError(f"'respawn bench world' measures {', '.join(WORLDS)}, not '{arguments.world}'")
    check_at_least(arguments, {"rounds": 1, "schools": 1})
    check_above("--", arguments, {"seconds": 0})
    if not arguments.fish or min(arguments.fish) < 1:
        raise ConfigError(f"--fish wants numbers of at least 1, and {list(arguments.fish)} came")
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.testing.bench_fish import measure_fish

    with progress_bar() as tell:
        measured = measure_fish(
            arguments.fish,
            schools=arguments.schools,
            rounds=arguments.rounds,
            seconds=arguments.seconds,
            device_name=arguments.device,
            with_reference=not arguments.no_reference,
            tell=tell,
        )
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def _show(measured: dict[str, Any]) -> None:
    target = console()
    target.print(
        f"fish on {measured['device']}, {measured['threads']} threads, median of {measured['rounds']} x "
        f"{measured['seconds']:g} s",
        markup=False,
    )
    table = new_table()
    for label in ("fish", "schools", "fish-steps/s", "spread", "one by one", "ratio"):
        table.add_column(label, justify="right", no_wrap=True)
    for row in measured["sizes"].values():
        pace = row["fish_steps_per_second"]
        spread = (row["spread"]["max"] - row["spread"]["min"]) / pace
        plain = row.get("reference_fish_steps_per_second")
        table.add_row(
            str(row["fish"]),
            f"{row['schools']:,}",
            f"{pace:,.0f}",
            f"{100 * spread:.0f} %",
            "" if plain is None else f"{plain:,.0f}",
            "" if plain is None else f"{row['ratio']:,.0f}",
        )
    target.print(table)
