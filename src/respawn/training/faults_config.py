"""What a run does when something goes wrong that it could live with."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import tyro

from respawn.contracts.settings import check_between
from respawn.errors import ConfigError

Rung: TypeAlias = Literal["accumulation", "horizon", "lanes"]
RUNGS: tuple[Rung, ...] = ("accumulation", "horizon", "lanes")


@dataclass(frozen=True)
class FaultsConfig:
    """What to do when something goes wrong."""

    not_finite: Literal["stop", "go-on"] = "stop"
    """a loss or gradient that is not finite never reaches the weights, and its batch is saved aside in faults/; then:
    stop; or go on with the weights as they were and the next rollout"""
    most_dropped: int = 3
    """with go-on: updates that may be dropped in a row before the run stops all the same"""
    out_of_memory: Literal["step-down", "stop"] = "step-down"
    """where a GPU's memory does not suffice: go on from the last checkpoint one rung further down; or stop"""
    ladder: Annotated[tuple[Rung, ...], tyro.conf.arg(metavar="RUNG ...")] = (
        "accumulation", "accumulation", "horizon", "lanes", "horizon", "lanes",
    )  # fmt: skip
    """the rungs, from the first: accumulation learns a batch in twice as many parts (the same gradient), horizon and
    lanes halve what a rollout holds"""
    stall: Literal["tell", "stop"] = "tell"
    """when nothing has moved for observers.stall-seconds: only say so; or end the process with exit code 1, so that
    whoever started it can resume it"""

    def __post_init__(self) -> None:
        """Refuse what is no answer."""
        check_between("faults.", self, {"most_dropped": (0, 1_000_000)})
        choices = {
            "not_finite": ("stop", "go-on"),
            "out_of_memory": ("step-down", "stop"),
            "stall": ("tell", "stop"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                option = name.replace("_", "-")
                raise ConfigError(f"faults.{option} must be {' or '.join(known)}, not '{getattr(self, name)}'")
        unknown = [rung for rung in self.ladder if rung not in RUNGS]
        if unknown:
            raise ConfigError(f"faults.ladder is made of {', '.join(RUNGS)}, and '{unknown[0]}' is none of them")
