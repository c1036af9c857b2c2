"""Collecting in a thread of its own, while the learner learns."""

import sys
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread

from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.pulse import IDLE, NO_PULSE, Pulse
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import StateTree

SWITCH_SECONDS = 1e-4
CLOSE_SECONDS = 5.0
"""How long a step that nobody wants any more is waited for: somebody may have asked twice for the run to end."""


class OverlapCollector:
    """`start` sets a thread to work, `finish` waits for it; whatever fails inside crosses there.

    Which weights gather which rollout depends on the order alone, and each side throws its own dice, so the numbers
    are those of the collector that it wraps.
    """

    def __init__(self, inner: SyncCollector, pulse: Pulse = NO_PULSE, *, close_seconds: float = CLOSE_SECONDS) -> None:
        # Two threads of Python take turns. At the default of 5 ms a thread that lets go of the interpreter for a short
        # native call waits that long to get it back, and overlapping made updates slower instead of faster.
        sys.setswitchinterval(SWITCH_SECONDS)
        self._inner = inner
        self._pulse = pulse
        self._close_seconds = close_seconds
        self._orders: SimpleQueue[Future[Rollout] | None] = SimpleQueue()
        self._in_flight: Future[Rollout] | None = None
        self._one_of_both_closes = Lock()
        self._has_ended = False
        self._is_left_behind = False
        # A daemon: a world that never comes back from a step must not keep the process from ending.
        self._thread = Thread(target=self._work, name="collector", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (promised := self._orders.get()) is not None:
            try:
                promised.set_result(self._inner.finish())
            except BaseException as error:  # noqa: BLE001 - the edge of a thread: raised again by `finish`
                promised.set_exception(error)
            del promised  # else the rollout would live on until the next order
            self._pulse.mark(IDLE)
        with self._one_of_both_closes:
            self._has_ended = True
            closes_here = self._is_left_behind
        if closes_here:
            self._inner.close()

    def start(self, order: CollectOrder) -> None:
        """Begin gathering."""
        if self._in_flight is not None:
            raise RuntimeError("start() while a rollout is under way: finish() that one first")
        self._inner.start(order)
        self._in_flight = Future()
        self._orders.put(self._in_flight)

    def finish(self) -> Rollout:
        """Wait for the rollout."""
        if self._in_flight is None:
            raise RuntimeError("finish() without start()")
        in_flight, self._in_flight = self._in_flight, None
        return in_flight.result()

    def state(self) -> StateTree:
        """The state of the collector inside."""
        if self._in_flight is not None:
            raise RuntimeError("a rollout is under way: state() may be asked for only after finish()")
        return self._inner.state()

    def restore(self, state: StateTree) -> None:
        """Put the collector inside back."""
        if self._in_flight is not None:
            raise RuntimeError("a rollout is under way: restore() may be called only after finish()")
        self._inner.restore(state)

    def begin_anew(self, state: StateTree) -> None:
        """Let the collector inside begin anew."""
        if self._in_flight is not None:
            raise RuntimeError("a rollout is under way: begin_anew() may be called only after finish()")
        self._inner.begin_anew(state)

    def close(self) -> None:
        """Let the thread drop what it gathers at its next step, wait for it, close the world; safe to call twice.

        A thread that is still in that step then is left behind, and closes the world if it ever comes to that.
        """
        self._inner.drop()
        self._orders.put(None)
        self._thread.join(self._close_seconds)
        self._in_flight = None
        with self._one_of_both_closes:
            self._is_left_behind = not self._has_ended
        if not self._is_left_behind:
            self._inner.close()
