"""Settings of prioritised replay."""

from dataclasses import dataclass, fields
from typing import Literal

from respawn.contracts.settings import check_above, check_at_least, check_between, option_name
from respawn.errors import ConfigError
from respawn.memory.sampler_choice import SamplerChoice

_PREFIX = "learner.replay."


@dataclass(frozen=True)
class ReplayConfig:
    """What is kept of earlier rollouts, and how it is learned from again. Off while nothing is kept."""

    capacity_decisions: int = 0
    """decisions that are kept, in whole lanes of a rollout (segments); 0: none, no replay"""
    segments: int = 32
    """segments that are replayed at a time; each is one lane of a rollout"""
    every_updates: int = 1
    """replay at every so many updates; 0: only when the variance asks for it"""
    variance_trigger: float = 0.0
    """replay too when the variance of an update's TD errors is more than this many times its running mean; 0: never"""
    cost: float = 1.0
    """weight of the replayed segments' loss beside the new rollout's"""
    alpha: float = 0.6
    """how much errors decide what is replayed: 0 not at all, 1 in proportion"""
    epsilon: float = 0.01
    """added to every error, so that nothing is forgotten for good"""
    half_scalars: bool = False
    """keep rewards and log-probabilities in 16 bits: to a thousandth, but for those under 0.0001, which lose more"""
    memory_gb: float = 2.0
    """most memory that segments may take, in units of 10^9 bytes, with one time-out in each; a capacity that needs more
    is made smaller"""
    storage: Literal["device", "cpu"] = "device"
    """where segments are kept: with the model, or in the computer's own memory"""
    sampler: SamplerChoice = "auto"
    """who draws: a sum tree on the CPU, running sums on the model's device, or the faster one; all draw the same"""
    fallback_ms: float = 0.0
    """give the device's sampler up when it takes longer, three times in a row; 0: never"""

    def __post_init__(self) -> None:
        """Refuse what cannot be replayed with, and settings that nothing would come of."""
        whole = {"capacity_decisions": 0, "segments": 1, "every_updates": 0}
        check_at_least(_PREFIX, self, {**whole, "variance_trigger": 0, "fallback_ms": 0})
        check_above(_PREFIX, self, {"cost": 0, "epsilon": 0, "memory_gb": 0})
        check_between(_PREFIX, self, {"alpha": (0, 1)})
        if not self.is_on:
            self._refuse_idle_settings()
        if self.every_updates == 0 and self.variance_trigger == 0:
            raise ConfigError(
                f"{_PREFIX}every-updates 0 never replays without a {_PREFIX}variance-trigger above 0; set one of them"
            )
        if self.every_updates == 1 and self.variance_trigger > 0:
            raise ConfigError(
                f"{_PREFIX}variance-trigger has no effect with {_PREFIX}every-updates 1, which always replays; "
                "set that to 0 or more than 1"
            )
        if self.sampler == "tree" and self.fallback_ms > 0:
            raise ConfigError(f"{_PREFIX}fallback-ms has no effect with {_PREFIX}sampler tree; leave out one of them")

    def _refuse_idle_settings(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) != field.default:
                raise ConfigError(
                    f"{option_name(_PREFIX, field.name)} has no effect without replay; "
                    f"set {_PREFIX}capacity-decisions above 0, or leave it out"
                )

    @property
    def is_on(self) -> bool:
        """Whether anything is kept."""
        return self.capacity_decisions > 0
