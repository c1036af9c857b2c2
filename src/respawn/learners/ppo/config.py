"""Settings of PPO."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.learners.config import ENTROPY_COSTS, OptimizerConfig

CLIPS = (0.0, 10.0)
"""From where to where the clip may be set, and schedules may turn it."""


@dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimisation: several careful passes over each rollout."""

    kind: Annotated[Literal["ppo"], tyro.conf.Suppress] = "ppo"
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    """how gradients change the weights"""
    discount: float = 0.99
    """worth of a reward one step later"""
    trace_decay: float = 0.95
    """lambda of the generalised advantages: 0 trusts the critic, 1 the rewards"""
    clip: float = 0.2
    """how far from 1 a probability ratio may go and still be followed"""
    epochs: int = 4
    """passes over each rollout"""
    minibatches: int = 4
    """optimizer steps a pass; with a recurrent core, each takes whole lanes"""
    kl_limit: float = 0.0
    """stop an update's passes once the policy has moved this far, in nats; 0: never"""
    value_cost: float = 0.5
    """weight of the critic's loss"""
    value_clip: float = 0.0
    """how far a value may move in one update and still be followed; 0: any distance"""
    entropy_cost: float = 0.01
    """reward for being undecided; schedules.entropy-cost says how it changes over the run"""
    normalise_advantages: bool = True
    """bring each rollout's advantages to mean 0 and deviation 1"""
    compile: bool = False
    """run the model through torch.compile: slow to start, faster after"""

    def __post_init__(self) -> None:
        """Refuse what cannot be learned with."""
        fractions = {"discount": (0, 1), "trace_decay": (0, 1)}
        check_between("learner.", self, {**fractions, "entropy_cost": ENTROPY_COSTS})
        check_above("learner.", self, {"clip": 0})
        check_between("learner.", self, {"clip": CLIPS})
        check_at_least(
            "learner.", self, {"kl_limit": 0, "value_cost": 0, "value_clip": 0, "epochs": 1, "minibatches": 1}
        )
