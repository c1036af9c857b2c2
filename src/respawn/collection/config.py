"""How experience is gathered."""

from dataclasses import dataclass
from typing import Literal

from respawn.contracts.settings import check_between, option_name
from respawn.errors import ConfigError

ACTOR_SETTINGS = (
    "most_lag", "order", "actor_threads", "actor_start_seconds", "rollout_seconds", "max_replacements",
)  # fmt: skip


DIAGNOSIS_SECONDS = 30.0
"""What finding out why an actor hangs, and ending it, may take besides."""


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

    actors: int = 0
    """processes that collect side by side, each with its own num-lanes; 0: collect in this process"""
    most_lag: int | None = None
    """with actors: updates that weights may be old, and in fixed order rollouts that are under way or waiting; none: as
    many as there are actors, or with free order twice as many"""
    order: Literal["fixed", "free"] = "fixed"
    """with actors: fixed: rollouts are learned from in the order in which they were begun, and a run is repeatable;
    free: whichever is ready, and no run is like another"""
    actor_threads: int = 1
    """with actors: threads that torch, BLAS and an engine set to 0 threads may use in each"""
    actor_start_seconds: float = 120.0
    """with actors: time limit for one to start, or to take up where another was lost"""
    rollout_seconds: float = 600.0
    """with actors: time limit for one rollout; an actor that takes longer is taken for hung, and replaced"""
    max_replacements: int = 3
    """with actors: how often one may be lost in a row, without a rollout between, before the run gives up"""

    def __post_init__(self) -> None:
        """Refuse what cannot be gathered."""
        # The upper ends are far above what is of use: a slip of the finger should get a sentence and no more.
        check_between("collection.", self, {"num_lanes": (1, 1_000_000), "horizon_steps": (1, 1_000_000)})
        if self.lag not in (0, 1):
            raise ConfigError(f"collection.lag must be 0 or 1, not {self.lag}")
        check_between("collection.", self, {"actors": (0, 1024), "most_lag": (1, 4096), "actor_threads": (1, 1024)})
        waits = dict.fromkeys(("actor_start_seconds", "rollout_seconds"), (0.001, 1_000_000))
        check_between("collection.", self, {**waits, "max_replacements": (0, 1_000_000)})
        if self.order not in ("fixed", "free"):
            raise ConfigError(f"collection.order must be fixed or free, not '{self.order}'")
        if self.actors > 0:
            self._check_actors()
            return
        for name in ACTOR_SETTINGS:
            if getattr(self, name) != CollectionConfig.__dataclass_fields__[name].default:
                option = option_name("collection.", name)
                raise ConfigError(f"{option} has no effect without actors; set collection.actors, or leave it out")

    def _check_actors(self) -> None:
        if self.lag != 0 or not self.threaded:
            raise ConfigError(
                "collection.lag and collection.threaded say how this process collects, and with collection.actors "
                f"{self.actors} others do; leave them out, collection.most-lag bounds how old weights may be"
            )
        if self.most_lag is not None and self.most_lag < self.actors:
            raise ConfigError(
                f"collection.most-lag must be at least collection.actors ({self.actors}), not {self.most_lag}: with "
                "fewer rollouts under way than actors, some would always stand still"
            )

    @property
    def greatest_lag(self) -> int:
        """How many updates the weights that gathered a rollout may be older than those that learn from it."""
        if self.actors == 0:
            return self.lag
        return self.most_lag or (self.actors if self.order == "fixed" else 2 * self.actors)

    @property
    def patience_seconds(self) -> float:
        """With actors: how long nothing may be heard of any of them, until one that hangs is replaced; else 0."""
        if self.actors == 0:
            return 0.0
        return max(self.rollout_seconds, self.actor_start_seconds) + DIAGNOSIS_SECONDS

    @property
    def goes_on_beside(self) -> bool:
        """Whether somebody else collects while the loop learns."""
        return self.actors > 0 or (self.lag == 1 and self.threaded)

    @property
    def rollouts_in_flight(self) -> int:
        """With actors: how many rollouts are under way or waiting while the learner learns."""
        return self.greatest_lag if self.order == "fixed" else self.actors

    @property
    def num_worlds(self) -> int:
        """How many worlds of `num_lanes` lanes there are."""
        return max(self.actors, 1)

    @property
    def decisions_per_rollout(self) -> int:
        """How many decisions one update learns from."""
        return self.num_lanes * self.horizon_steps
