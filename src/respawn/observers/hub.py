"""Hands every record to every observer, and keeps a failing observer from harming the run.

This is the one place that swallows an error, so it is loud about it: the failure becomes an event that the others see,
and stays in `failures`, from which the run's exit code follows.
"""

import errno
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import TypeVar

from respawn.contracts.observer import Observer
from respawn.contracts.records import Event, Record
from respawn.contracts.saveable import StateTree

T = TypeVar("T")

OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Errors that all who write will meet, and that are one thing to know."""


@dataclass(frozen=True, slots=True)
class ObserverFailure:
    """Which observer failed, while doing what, and how."""

    observer: str
    doing: str
    error: str

    def __str__(self) -> str:
        return f"observer {self.observer} failed to {self.doing}: {self.error}"


class ObserverHub:
    """Fan-out in the caller's thread, in the order given; closed in the opposite order, so put the event stream first.

    An observer that raises is closed and left out from then on. Records may come from more than one thread (that of a
    collector reports lost workers), but observers see them one at a time.
    """

    def __init__(self, observers: Mapping[str, Observer]) -> None:
        self._observers = dict(observers)
        self._failures: list[ObserverFailure] = []
        self._told_of_disk: set[int | None] = set()
        self._one_at_a_time = RLock()

    def add(self, name: str, observer: Observer) -> None:
        """One more, who may tell the others something; put after all that were there."""
        with self._one_at_a_time:
            self._observers[name] = observer

    @property
    def failures(self) -> tuple[ObserverFailure, ...]:
        """Every failure so far, the first of each observer only."""
        return tuple(self._failures)

    def remember(self, failures: Iterable[ObserverFailure]) -> None:
        """Failures of a hub that this one takes the place of: the exit code follows from them too."""
        self._failures = [*failures, *self._failures]

    def receive(self, record: Record) -> None:
        """Show a record to all."""
        with self._one_at_a_time:
            for name, observer in list(self._observers.items()):
                # It may have been detached within this very loop, by failing on the report of another's failure.
                if name in self._observers:
                    self._guard(name, "receive", partial(observer.receive, record))

    def note_failure(self, name: str, doing: str, cause: Exception) -> None:
        """A failure that an observer tells of itself and outlives: it stays, for what else it does."""
        with self._one_at_a_time:
            failure = ObserverFailure(name, doing, _in_words(cause))
            self._failures.append(failure)
            self._tell_of(failure, cause, "it goes on without that", "; whoever else meets the same is left out")

    def state(self) -> StateTree:
        """The observers' states by name; one that has failed has none."""
        states = {}
        with self._one_at_a_time:
            for name, observer in list(self._observers.items()):
                state = self._guard(name, "save", observer.state) if name in self._observers else None
                if state is not None:
                    states[name] = state
        return states

    def restore(self, state: StateTree) -> None:
        """Set every observer back to where it was; here an error is the caller's, for the run has not begun.

        An observer that was not there when the state was saved begins afresh; one that is there no more is passed over.
        """
        with self._one_at_a_time:
            for name, observer in list(self._observers.items()):
                if name in state:
                    observer.restore(state[name])

    def close(self) -> None:
        """Close all, the last first; safe to call twice.

        Nobody sees another record once it is being closed. The lock is not held meanwhile: an observer may have to wait
        for a thread of its own that is just telling the others something.
        """
        while True:
            with self._one_at_a_time:
                if not self._observers:
                    return
                name, observer = self._observers.popitem()
            self._guard(name, "close", observer.close)

    def _guard(self, name: str, doing: str, call: Callable[[], T]) -> T | None:
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - recorded, reported, and answered with a non-zero exit at the end
            self._detach(name, ObserverFailure(name, doing, _in_words(error)), error)
            return None

    def _detach(self, name: str, failure: ObserverFailure, cause: Exception) -> None:
        observer = self._observers.pop(name, None)  # one that failed to close is gone already
        self._failures.append(failure)
        if observer is not None:
            try:
                observer.close()  # so that a live display gives the terminal back
            except Exception as error:  # noqa: BLE001 - part of the failure that is being reported
                failure = ObserverFailure(name, failure.doing, f"{failure.error}; and to close: {error}")
                self._failures[-1] = failure
        self._tell_of(failure, cause, "it is left out from now on", ", and so is whoever else meets the same")

    def _tell_of(self, failure: ObserverFailure, cause: Exception, outcome: str, others: str) -> None:
        """Let those that are left know, with `others` where it is the disk: of that they are told once."""
        disk = cause.errno if isinstance(cause, OSError) and cause.errno in OF_THE_DISK else None
        if disk is None or disk not in self._told_of_disk:
            self._told_of_disk |= {disk}
            facts = {"observer": failure.observer, "doing": failure.doing, "error": failure.error}
            message = f"{failure}; {outcome}{'' if disk is None else others}"
            self.receive(Event("observer_failed", message, "error", facts))


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
