"""The seam between rollouts and weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.records import LearnReport, Rollout
from respawn.contracts.saveable import Saveable


@dataclass(frozen=True, slots=True)
class Weights:
    """A numbered copy of the model's parameters that nobody will change."""

    version: int
    tensors: Mapping[str, Tensor]


class Learner(Saveable, Protocol):
    """Turns rollouts into better weights. Its state is all but the weights, which are a part of their own."""

    @property
    def knobs(self) -> tuple[KnobSpec, ...]:
        """The numbers it lets schedules decide."""
        ...

    def learn(self, rollout: Rollout, knobs: Knobs) -> LearnReport:
        """Make one update."""
        ...

    def weights(self) -> Weights:
        """A copy of the weights as they are now, numbered by how many updates made them."""
        ...
