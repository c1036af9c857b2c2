"""How the policy is judged while it learns."""

from dataclasses import dataclass
from math import isfinite

from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError

MOST_WORST_FILMS = 100
"""Each takes some seconds, after every evaluation."""


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
        check_at_least("evaluation.", self, {"stop_after": 1})
        check_at_least("evaluation.", self, {"every_updates": 0, "video_every": 0, "seed_base": 0, "limit_steps": 1})
        check_between("evaluation.", self, {"episodes": (1, 1_000_000), "num_lanes": (1, 1_000_000)})
        check_between("evaluation.", self, {"worst_films": (0, min(self.episodes, MOST_WORST_FILMS))})
        if self.stop_at is not None and not isfinite(self.stop_at):
            raise ConfigError(f"evaluation.stop-at must be a finite number, not {self.stop_at}; none: never")
