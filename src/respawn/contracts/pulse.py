"""The seam between what a run is doing at this moment and whoever watches that it goes on."""

from typing import Protocol


class Pulse(Protocol):
    """Takes note of what each thread does. Called at every step of a world, so it must cost next to nothing."""

    def mark(self, phase: str) -> None:
        """The calling thread is in `phase` from now on; marking the same phase again says that it moves."""
        ...


class NullPulse:
    """Nobody watches."""

    def mark(self, phase: str) -> None:
        """Take no note."""


NO_PULSE = NullPulse()

IDLE = "idle"
"""The phase of a thread that waits for orders: it may take for ever."""
