"""When a run is saved, and what is kept."""

from dataclasses import dataclass

from respawn.contracts.settings import check_at_least


@dataclass(frozen=True)
class CheckpointsConfig:
    """When the run is saved, and which checkpoints are kept."""

    every_updates: int = 10
    """save after this many updates; 0: not by count"""
    every_seconds: float = 60.0
    """save when this much time has passed since the last one; 0: not by time"""
    keep_last: int = 3
    """newest checkpoints to keep"""
    keep_best: int = 1
    """checkpoints to keep that evaluated best"""
    best_metric: str = "evaluation/return_mean"
    """what 'best' means: the highest of this evaluation metric"""
    keep_every_hours: float = 0.0
    """keep one checkpoint for each such span of time, for ever; 0: none"""

    def __post_init__(self) -> None:
        """Refuse numbers below zero, and a run that keeps nothing."""
        not_negative = ("every_updates", "every_seconds", "keep_best", "keep_every_hours")
        check_at_least("checkpoints.", self, {"keep_last": 1, **dict.fromkeys(not_negative, 0)})
