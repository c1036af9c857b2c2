"""What both learners share: how gradients become changes of the weights."""

from dataclasses import dataclass

from respawn.errors import ConfigError


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
        if not self.learning_rate > 0:
            raise ConfigError(f"learner.optimizer.learning-rate must be above 0, not {self.learning_rate}")
        for name in ("weight_decay", "gradient_norm"):
            if not getattr(self, name) >= 0:
                option = name.replace("_", "-")
                raise ConfigError(f"learner.optimizer.{option} must be 0 or more, not {getattr(self, name)}")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"learner.optimizer.{name} must be at least 0 and below 1, not {getattr(self, name)}")
        if not self.epsilon > 0:
            raise ConfigError(f"learner.optimizer.epsilon must be above 0, not {self.epsilon}")
        if self.accumulation < 1:
            raise ConfigError(f"learner.optimizer.accumulation must be at least 1, not {self.accumulation}")


def check_fraction(option: str, value: float) -> None:
    """Refuse a number that is not from 0 to 1."""
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"{option} must be from 0 to 1, not {value}")


def check_not_negative(option: str, value: float) -> None:
    """Refuse a number below 0."""
    if not value >= 0.0:
        raise ConfigError(f"{option} must be 0 or more, not {value}")
