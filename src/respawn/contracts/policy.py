"""The seam between collecting and choosing."""

from dataclasses import dataclass
from typing import Protocol

from torch import Generator, Tensor

from respawn.contracts.records import Memory


@dataclass(frozen=True, slots=True)
class Decision:
    """One action a lane, and what remembering needs."""

    actions: Tensor  # [B] int64, or [B, A]
    log_probs: Tensor  # [B] of whoever chose
    values: Tensor  # [B] what the critic expects from here
    memory: Memory  # after this step, episode ends not yet taken into account
    scripted: Tensor | None = None  # [B] bool where an action was forced upon the policy; None: nowhere


class Policy(Protocol):
    """Chooses actions."""

    def initial_memory(self, num_lanes: int) -> Memory:
        """What is remembered at the start of an episode."""
        ...

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane, drawn with `generator`; without one, the likeliest."""
        ...
