"""From a learner's settings to a learner."""

from collections.abc import Callable
from typing import TypeAlias

from torch import Generator

from respawn.contracts.learner import Learner
from respawn.contracts.records import Event
from respawn.learners.optimizer import Optimizer
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.ppo.learner import PPOLearner
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.learner import VTraceLearner
from respawn.models.actor_critic import ActorCritic

LearnerConfig: TypeAlias = PPOConfig | VTraceConfig


def build_learner(
    config: LearnerConfig, model: ActorCritic, generator: Generator, notify: Callable[[Event], None]
) -> Learner:
    """A learner that trains `model`."""
    trainee = Trainee(model, Optimizer(model, config.optimizer), generator, compile_model=config.compile, notify=notify)
    if isinstance(config, PPOConfig):
        return PPOLearner(trainee, config)
    return VTraceLearner(trainee, config)
