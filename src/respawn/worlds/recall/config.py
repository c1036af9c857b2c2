"""How the recall task is set up."""

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError


@dataclass(frozen=True)
class RecallConfig:
    """See a cue, wait, name the cue: what only a policy with a memory can do."""

    kind: Annotated[Literal["recall"], tyro.conf.Suppress] = "recall"
    num_cues: int = 4
    """how many cues there are, and as many actions"""
    delay_steps: int = 8
    """blank steps between the cue and the question"""
    noise: float = 0.0
    """how loud the distraction is where no cue is shown: uniform in [-noise, noise]"""

    def __post_init__(self) -> None:
        """Refuse what makes no task."""
        if self.num_cues < 2:
            raise ConfigError(
                f"world.num-cues must be at least 2, got {self.num_cues}; with one cue there is nothing to recall"
            )
        check_at_least("world.", self, {"delay_steps": 0})
        check_between("world.", self, {"noise": (0, 1_000_000)})
