"""respawn demo: from nothing to a cleared level, and a film of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.contracts.settings import check_above


@dataclass(frozen=True)
class DemoArguments:
    """Train an agent to clear World 1-1, judge it on fresh seeds, and film it.

    The exit code is 1 if it did not learn to clear the level reliably.
    """

    seed: int = 0
    """decides every random number of the run"""
    minutes: float = 5.0
    """train no longer than this; it stops as soon as the level is cleared reliably"""
    name: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """what to call the run; none: demo, seed and time"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """the game; none: where 'respawn doctor rom' finds it"""
    device: str = "cpu"
    """where to compute; the network is so small that a GPU is no help"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""


def main(words: list[str]) -> int:
    """Show what this can do."""
    arguments = parse(DemoArguments, words, "respawn demo")
    check_at_least(arguments, {"seed": 0})
    check_above("--", arguments, {"minutes": 0})
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.demonstration import demonstrate

    return demonstrate(arguments)
