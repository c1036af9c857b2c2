"""Collecting in a thread of its own, while the learner learns."""

import sys
from concurrent.futures import Future, ThreadPoolExecutor

from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import StateTree

SWITCH_SECONDS = 1e-4


class OverlapCollector:
    """`start` sets a thread to work, `finish` waits for it; whatever fails inside crosses there.

    Which weights gather which rollout depends on the order alone, and each side throws its own dice, so the numbers
    are those of the collector that it wraps.
    """

    def __init__(self, inner: SyncCollector) -> None:
        # Two threads of Python take turns. At the default of 5 ms a thread that lets go of the interpreter for a short
        # native call waits that long to get it back, and overlapping made updates slower instead of faster.
        sys.setswitchinterval(SWITCH_SECONDS)
        self._inner = inner
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="collector")
        self._in_flight: Future[Rollout] | None = None

    def start(self, order: CollectOrder) -> None:
        """Begin gathering."""
        if self._in_flight is not None:
            raise RuntimeError("start() while a rollout is under way: finish() that one first")
        self._inner.start(order)
        self._in_flight = self._thread.submit(self._inner.finish)

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

    def close(self) -> None:
        """Wait for the thread, drop what it gathered, close the world."""
        self._thread.shutdown(wait=True)
        self._in_flight = None
        self._inner.close()
