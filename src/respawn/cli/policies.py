"""Which trained policy a command is about, and where it is to play."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from respawn.cli.named_world import check_shipped, check_world

if TYPE_CHECKING:
    from respawn.training.config import RunConfig
    from respawn.training.trained import Trained


class PolicyArguments(Protocol):
    """What `play`, `video` and `map` are told of a policy."""

    @property
    def run(self) -> str:
        """Name of the run, path of its folder, or of shipped weights."""

    @property
    def runs(self) -> Path:
        """The folder that holds the runs."""

    @property
    def checkpoint(self) -> str:
        """Which checkpoint."""

    @property
    def level(self) -> str | None:
        """Mario: where to begin."""

    @property
    def sticky(self) -> float | None:
        """Mario: chance that a decision is not heard."""

    @property
    def start_jitter(self) -> int | None:
        """Mario: frames by which an episode may begin later."""

    @property
    def rom(self) -> Path | None:
        """Mario: the game."""


def find_policy(arguments: PolicyArguments, world: str | None = None) -> "tuple[Trained, RunConfig]":
    """The policy, and its configuration with another beginning where one is given.

    Args:
      arguments: what was asked for.
      world: which one the policy must be of; None: any.
    """
    check_shipped(arguments.run, arguments.runs)
    from respawn.training.trained import find_trained, with_world

    trained = find_trained(arguments.runs, arguments.run, arguments.checkpoint)
    check_world(trained, world)
    warn_of_damage(trained.passed_over)
    config = with_world(
        trained.config,
        level=arguments.level,
        sticky=arguments.sticky,
        start_jitter=arguments.start_jitter,
        rom=arguments.rom,
    )
    return trained, config


def warn_of_damage(passed_over: Iterable[str]) -> None:
    """Say which newer checkpoints are damaged, and how."""
    for damaged in passed_over:
        print(f"respawn: passed over a damaged checkpoint, {damaged}", file=sys.stderr)
