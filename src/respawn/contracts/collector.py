"""The seam between weights and rollouts."""

from dataclasses import dataclass
from typing import Protocol

from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import Saveable, StateTree


@dataclass(frozen=True, slots=True)
class CollectOrder:
    """With which weights and which knobs the next rollout is to be gathered."""

    weights: Weights
    knobs: Knobs


class Collector(Saveable, Protocol):
    """Gathers rollouts, one at a time: `start`, then `finish`. State may be asked for only when none is under way."""

    def start(self, order: CollectOrder) -> None:
        """Begin gathering, or take note of what to gather."""
        ...

    def finish(self) -> Rollout:
        """The rollout that `start` ordered; re-raises whatever failed inside.

        It belongs to the caller until the next `finish` returns, when its memory may be used again.
        """
        ...

    def begin_anew(self, state: StateTree) -> None:
        """Go on, new as this one is, from the state of one with other lanes or other steps a rollout.

        Episodes begin anew. What was counted and which scripts were played is as it was.
        """
        ...

    def close(self) -> None:
        """Wait for what is under way, drop it, and give everything back."""
        ...
