"""How experience is gathered."""

from dataclasses import dataclass
from typing import Literal

from respawn.contracts.settings import check_between
from respawn.errors import ConfigError


@dataclass(frozen=True)
class CollectionConfig:
    """How experience is gathered."""

    num_lanes: int = 8
    """parallel copies of the world"""
    horizon_steps: int = 128
    """agent steps per lane in one rollout"""
    lag: Literal[0, 1] = 0
    """0: collect, then learn; 1: collect the next rollout while learning, with weights one update old"""
    threaded: bool = True
    """with lag 1: collect in a thread beside the learner; off: one after the other, with the same numbers"""

    def __post_init__(self) -> None:
        """Refuse what cannot be gathered."""
        # The upper ends are far above what is of use: a slip of the finger should get a sentence and no more.
        check_between("collection.", self, {"num_lanes": (1, 1_000_000), "horizon_steps": (1, 1_000_000)})
        if self.lag not in (0, 1):
            raise ConfigError(f"collection.lag must be 0 or 1, not {self.lag}")

    @property
    def decisions_per_rollout(self) -> int:
        """How many decisions one update learns from."""
        return self.num_lanes * self.horizon_steps
