"""respawn plan FILE."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.errors import ConfigError


@dataclass(frozen=True)
class PlanArguments:
    """Train the stages of a plan in turn, each with the weights of the one before.

    Typed again, it goes on: finished stages are passed over, one left is resumed.
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """TOML: settings of all stages as in 'train --config', then [[stages]], each with a name and settings of its own"""
    name: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """what the runs' names begin with; none: what the file is called (plan.toml: its folder), and the seed"""
    seed: int | None = None
    """decides every random number of every stage; none: as the file has it"""
    updates: int | None = None
    """end every stage after at most so many updates, to try a plan out; what it plans for stays. None: not"""
    only: Annotated[str | None, tyro.conf.arg(metavar="STAGE")] = None
    """train this stage alone; the one before it must be finished"""
    first: Annotated[str | None, tyro.conf.arg(name="from", metavar="STAGE")] = None
    """leave out the stages before this one; it begins as the plan does, with fresh weights or those of weights_from"""
    dry_run: bool = False
    """check everything and say what would be done, but train nothing"""
    device: str | None = None
    """cpu, cuda, cuda:1, ...; none: as the file has it, or where a stage was begun"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game; none: as the file has it, or where a stage was begun with it"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""

    @property
    def overrides(self) -> dict[str, Any]:
        """Settings that go before the file's."""
        given: dict[str, Any] = {"seed": self.seed, "device": self.device}
        settings = {name: value for name, value in given.items() if value is not None}
        if self.rom is not None:
            settings["world"] = {"rom": str(self.rom.expanduser().absolute())}
        return settings


def main(words: list[str]) -> int:
    """Carry out a plan."""
    arguments = parse(PlanArguments, words, "respawn plan")
    check_at_least(arguments, {"updates": 1, "seed": 0})
    if arguments.name == "":
        raise ConfigError("--name wants a name, and an empty one came; leave it out to have the runs named for you")
    if arguments.only is not None and arguments.first is not None:
        raise ConfigError("--only is one stage, and --from is one and all after it; leave out one of the two")
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.plan_run import carry_out

    return carry_out(arguments, words)
