"""Hands every record to every observer, and keeps a failing observer from harming the run.

This is the one place that swallows an error, so it is loud about it: the failure becomes an event that the others see,
and stays in `failures`, from which the run's exit code follows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import TypeVar

from respawn.contracts.observer import Observer
from respawn.contracts.records import Event, Record
from respawn.contracts.saveable import StateTree

T = TypeVar("T")


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
        self._one_at_a_time = RLock()

    @property
    def failures(self) -> tuple[ObserverFailure, ...]:
        """Every failure so far, the first of each observer only."""
        return tuple(self._failures)

    def receive(self, record: Record) -> None:
        """Show a record to all."""
        with self._one_at_a_time:
            for name, observer in list(self._observers.items()):
                # It may have been detached within this very loop, by failing on the report of another's failure.
                if name in self._observers:
                    self._guard(name, "receive", partial(observer.receive, record))

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
        for name, observer in self._observers.items():
            if name in state:
                observer.restore(state[name])

    def close(self) -> None:
        """Close all, the last first; safe to call twice."""
        with self._one_at_a_time:
            for name in reversed(list(self._observers)):
                observer = self._observers.get(name)
                if observer is not None:
                    self._guard(name, "close", observer.close)
                    self._observers.pop(name, None)

    def _guard(self, name: str, doing: str, call: Callable[[], T]) -> T | None:
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - recorded, reported, and answered with a non-zero exit at the end
            self._detach(name, ObserverFailure(name, doing, f"{type(error).__name__}: {error}"))
            return None

    def _detach(self, name: str, failure: ObserverFailure) -> None:
        observer = self._observers.pop(name)
        self._failures.append(failure)
        if failure.doing != "close":
            try:
                observer.close()  # so that a live display gives the terminal back
            except Exception as error:  # noqa: BLE001 - part of the failure that is being reported
                failure = ObserverFailure(name, failure.doing, f"{failure.error}; and to close: {error}")
                self._failures[-1] = failure
        facts = {"observer": name, "doing": failure.doing, "error": failure.error}
        self.receive(Event("observer_failed", f"{failure}; it is left out from now on", "error", facts))
