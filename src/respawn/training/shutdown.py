"""Signals → a clean last checkpoint."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from respawn.training.cadence import Cadence


class InterruptedTwice(KeyboardInterrupt):
    """Somebody did not want to wait for the update to end."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


class Shutdown:
    """Remembers which signal asked the run to stop."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """What a process that was stopped by this signal answers: 130 for SIGINT, 143 for SIGTERM, 0 for none."""
        return 0 if self.signal is None else 128 + self.signal.value


@contextmanager
def stop_on_signals(cadence: Cadence) -> Iterator[Shutdown]:
    """While inside, the first SIGINT or SIGTERM asks the run to stop at the next update; a second one drops it."""
    shutdown = Shutdown()

    def ask(number: int, frame: FrameType | None) -> None:
        if shutdown.signal is not None:
            raise InterruptedTwice(shutdown.exit_code)
        shutdown.signal = signal.Signals(number)
        cadence.stop_requested = True
        # Written past Python's buffers: the signal may have come while one of them was being written to. Whoever read
        # it may be gone by the same Ctrl-C, as `tee` is.
        with suppress(OSError):
            os.write(2, b"\nstopping after this update, and saving; once more to drop the update\n")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield shutdown
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
