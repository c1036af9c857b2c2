"""How the policy is judged while it learns."""

from dataclasses import dataclass, field, fields
from math import isfinite

from respawn.contracts.settings import check_at_least, check_between, option_name
from respawn.errors import ConfigError

MOST_WORST_FILMS = 100
"""Each takes some seconds, after every evaluation."""


@dataclass(frozen=True)
class ScoutConfig:
    """Mario: episodes beside each evaluation, on seeds of their own, that hard starts are harvested from."""

    episodes: int = 0
    """how many; 0: none"""
    seed_base: int = 1_000_000_000
    """their seeds count on from here, evaluation after evaluation; never one that the run is judged by"""
    nearest_steps: int = 10
    """a hard start lies at least so many decisions before a death"""
    farthest_steps: int = 40
    """and at most so many"""
    greedy: bool = False
    """take the likeliest actions; off: draw them, as in training"""

    def __post_init__(self) -> None:
        """Refuse what finds nothing."""
        prefix = "evaluation.scout."
        check_at_least(prefix, self, {"episodes": 0, "seed_base": 0, "nearest_steps": 1})
        for setting in fields(self):
            if self.episodes == 0 and getattr(self, setting.name) != setting.default:
                raise ConfigError(
                    f"{option_name(prefix, setting.name)} has no effect without scouts; set evaluation.scout.episodes, "
                    "or leave it out"
                )
        if self.farthest_steps < self.nearest_steps:
            raise ConfigError(
                f"evaluation.scout.farthest-steps ({self.farthest_steps}) must not be below nearest-steps "
                f"({self.nearest_steps}); swap them"
            )

    def seeds(self, number: int) -> range:
        """What is played beside the evaluation of this number."""
        return range(self.seed_base + number * self.episodes, self.seed_base + (number + 1) * self.episodes)


@dataclass(frozen=True)
class EvaluationConfig:
    """How the policy is judged while it learns: in a world of its own, on fixed seeds."""

    every_updates: int = 0
    """updates between two evaluations; 0: none during training"""
    episodes: int = 20
    """episodes in one evaluation, each from its own seed"""
    num_lanes: int = 20
    """episodes played at a time"""
    seed_base: int = 1_000_000
    """episode i is played from seed-base + i"""
    greedy: bool = True
    """take the likeliest action; off: draw actions as in training"""
    limit_steps: int = 10_000
    """episodes longer than this are cut, and counted as unfinished"""

    stop_at: float | None = None
    """stop the run once checkpoints.best-metric reaches this; none: never"""
    stop_after: int = 1
    """so many evaluations in a row must reach it"""
    video_every: int = 0
    """film an episode after every so-many-th evaluation, into videos/ of the run folder; 0: never"""
    worst_films: int = 0
    """fish: film so many of the worst schools of every evaluation, into media/ of the run folder"""
    scout: ScoutConfig = field(default_factory=ScoutConfig)
    """Mario: episodes that hard starts are harvested from"""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if self.stop_at is not None and self.every_updates == 0:
            raise ConfigError(
                "evaluation.stop-at waits for an evaluation, and there is none: set evaluation.every-updates"
            )
        if self.video_every > 0 and self.every_updates == 0:
            raise ConfigError(
                "evaluation.video-every counts evaluations, and there are none: set evaluation.every-updates"
            )
        if self.worst_films > 0 and self.every_updates == 0:
            raise ConfigError(
                "evaluation.worst-films films episodes of evaluations, and there are none: set evaluation.every-updates"
            )
        if self.scout.episodes > 0:
            self._check_scouts()
        check_at_least("evaluation.", self, {"stop_after": 1})
        check_at_least("evaluation.", self, {"every_updates": 0, "video_every": 0, "seed_base": 0, "limit_steps": 1})
        check_between("evaluation.", self, {"episodes": (1, 1_000_000), "num_lanes": (1, 1_000_000)})
        check_between("evaluation.", self, {"worst_films": (0, min(self.episodes, MOST_WORST_FILMS))})
        if self.stop_at is not None and not isfinite(self.stop_at):
            raise ConfigError(f"evaluation.stop-at must be a finite number, not {self.stop_at}; none: never")

    def _check_scouts(self) -> None:
        if self.every_updates == 0:
            raise ConfigError(
                "evaluation.scout.episodes are played beside evaluations, and there are none: set "
                "evaluation.every-updates"
            )
        # Whatever lies below the first scout's seed can never be one, however long the run goes on.
        if self.scout.seed_base < self.seed_base + self.episodes:
            raise ConfigError(
                f"evaluation.scout.seed-base must lie above the seeds that the run is judged by, up to "
                f"{self.seed_base + self.episodes - 1}, not at {self.scout.seed_base}; raise it"
            )
