"""Settings of the V-trace learner."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.learners.config import ENTROPY_COSTS, OptimizerConfig
from respawn.memory.replay_config import ReplayConfig


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
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    """learning again from what was gathered earlier"""

    def __post_init__(self) -> None:
        """Refuse what cannot be learned with."""
        fractions = {"discount": (0, 1), "trace_decay": (0, 1)}
        check_between("learner.", self, {**fractions, "entropy_cost": ENTROPY_COSTS})
        check_above("learner.", self, {"rho_clip": 0, "c_clip": 0})
        check_at_least("learner.", self, {"value_cost": 0})
