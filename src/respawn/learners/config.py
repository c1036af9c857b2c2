"""What both learners share: how gradients become changes of the weights."""

from dataclasses import dataclass

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError

LEARNING_RATES = (0.0, 1.0)
ENTROPY_COSTS = (0.0, 100.0)
"""From where to where these may be set, and schedules may turn them."""

_PREFIX = "learner.optimizer."


@dataclass(frozen=True)
class OptimizerConfig:
    """AdamW, with clipping and accumulation."""

    learning_rate: float = 1e-3
    """the peak; schedules.learning-rate says how it changes over the run"""
    weight_decay: float = 0.0
    """pull of the weights towards zero; never on biases and norms"""
    beta1: float = 0.9
    """memory of the gradient's mean"""
    beta2: float = 0.999
    """memory of the gradient's size"""
    epsilon: float = 1e-5
    """keeps a step finite where gradients vanish"""
    gradient_norm: float = 0.5
    """longest gradient that is followed unscaled; 0 turns clipping off"""
    accumulation: int = 1
    """parts that each batch is learned in, to need less memory; the gradient is the same"""

    def __post_init__(self) -> None:
        """Refuse what no optimizer can use."""
        check_above(_PREFIX, self, {"learning_rate": 0, "epsilon": 0})
        check_between(_PREFIX, self, {"learning_rate": LEARNING_RATES})
        check_at_least(_PREFIX, self, {"weight_decay": 0, "gradient_norm": 0, "accumulation": 1})
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{_PREFIX}{name} must be at least 0 and below 1, not {getattr(self, name)}")
