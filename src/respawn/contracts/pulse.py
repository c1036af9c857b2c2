"""The seam between what a run is doing at this moment and whoever watches that it goes on."""

from typing import Protocol


class Pulse(Protocol):
    """Takes note of what each thread does. Called at every step of a world, so it must cost next to nothing."""

    def mark(self, phase: str, share: float = 0.0) -> None:
        """The calling thread is in `phase` from now on; marking the same phase again says that it moves.

        Args:
          phase: what it does.
          share: how much of the rollout that it belongs to is gathered, where it is part of one.
        """
        ...

    def moved(self) -> None:
        """Something moves, though no thread has begun anything else: a worker was replaced, an actor heard of."""
        ...


class NullPulse:
    """Nobody watches."""

    def mark(self, phase: str, share: float = 0.0) -> None:
        """Take no note."""

    def moved(self) -> None:
        """Take no note."""


NO_PULSE = NullPulse()

IDLE = "idle"
"""The phase of a thread that waits for orders: it may take for ever."""
