"""Settings of the V-trace learner."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from respawn.errors import ConfigError
from respawn.learners.config import OptimizerConfig, check_fraction, check_not_negative


@dataclass(frozen=True)
class VTraceConfig:
    """Off-policy actor-critic with V-trace targets: one pass over each rollout, however old its weights."""

    kind: Annotated[Literal["vtrace"], tyro.conf.Suppress] = "vtrace"
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    """how gradients change the weights"""
    discount: float = 0.99
    """worth of a reward one step later"""
    trace_decay: float = 1.0
    """lambda: 0 trusts the critic, 1 the rewards"""
    rho_clip: float = 1.0
    """bound on the weight of one step's error, for values and policy; decides which policy the values are of"""
    c_clip: float = 1.0
    """bound on how much of a later error flows back; decides how fast the values settle"""
    value_cost: float = 0.5
    """weight of the critic's loss"""
    entropy_cost: float = 0.01
    """reward for being undecided; schedules.entropy-cost says how it changes over the run"""
    compile: bool = False
    """run the model through torch.compile: slow to start, faster after"""

    def __post_init__(self) -> None:
        """Refuse what cannot be learned with."""
        check_fraction("learner.discount", self.discount)
        check_fraction("learner.trace-decay", self.trace_decay)
        for name in ("value_cost", "entropy_cost"):
            check_not_negative(f"learner.{name.replace('_', '-')}", getattr(self, name))
        for name in ("rho_clip", "c_clip"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"learner.{name.replace('_', '-')} must be above 0, not {getattr(self, name)}")
