"""Doing something at even intervals, beside the run."""

import threading
from collections.abc import Callable


class Ticker:
    """Calls `tick` every so often in a thread of its own, from the first interval on, until it is closed.

    What `tick` raises ends the thread and is kept: whoever owns the ticker asks with `check`, in a thread where an
    error is somebody's.
    """

    def __init__(self, name: str, seconds: float, tick: Callable[[], None]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._closing = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what ended the thread, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def close(self, patience_seconds: float = 5.0) -> None:
        """End the thread; one that is stuck is left behind, for it is a daemon."""
        self._closing.set()
        if self._thread is not threading.current_thread():
            self._thread.join(patience_seconds)

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            try:
                self._tick()
            except Exception as error:  # noqa: BLE001 - the edge of a thread: raised again by `check`
                self._error = error
                return
