"""Signals → a clean last checkpoint."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType

from respawn.contracts.records import Event
from respawn.training.cadence import Cadence


class Interrupted(KeyboardInterrupt):
    """The run was asked to stop and does so in the middle of an update, which is lost."""

    def __init__(self, exit_code: int, reason: str) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def _signals() -> list[signal.Signals]:
    """Those that ask a run to stop; a terminal that is closed does too, unless `nohup` says that it should not."""
    asking = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        asking.append(signal.SIGHUP)
    return asking


class Shutdown:
    """Remembers which signal asked the run to stop."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.telling: Thread | None = None

    def wait_until_told(self) -> None:
        """Wait until everybody knows that the run is to stop, if it is."""
        if self.telling is not None:
            self.telling.join()

    def stop_if_asked(self) -> None:
        """Raise Interrupted if a signal came."""
        if self.signal is not None:
            raise Interrupted(self.exit_code, f"it was asked to stop by {self.signal.name}")

    @contextmanager
    def goes_before(
        self, survivable: Callable[[BaseException], bool], is_whole: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """While inside, an error that the run could go on after does not make it go on if it was asked to stop.

        Args:
          survivable: whether it is such an error.
          is_whole: whether the run may be saved as it is: then the error cost nothing, and it stops as it was asked to.
        """
        try:
            yield
        except Exception as error:
            if self.signal is None or not survivable(error):
                raise
            if is_whole():
                return
            cause = str(error).partition("\n")[0].partition(". ")[0]
            raise Interrupted(self.exit_code, f"the update that it was to stop after failed ({cause})") from error

    @property
    def exit_code(self) -> int:
        """What a process that was stopped by this signal answers: 130 for SIGINT, 143 for SIGTERM; 0 for none."""
        return 0 if self.signal is None else 128 + self.signal.value


@contextmanager
def stop_on_signals(shutdown: Shutdown, cadence: Cadence, notify: Callable[[Event], None]) -> Iterator[None]:
    """While inside, the first SIGINT, SIGTERM or SIGHUP asks the run to stop at the next update; a second drops it.

    Args:
      shutdown: remembers it, also of one that comes while the handlers before are put back.
      cadence: is asked to stop.
      notify: is told.
    """

    def ask(number: int, frame: FrameType | None) -> None:
        if shutdown.signal is not None:
            raise Interrupted(shutdown.exit_code, "a second signal came in the middle of an update")
        shutdown.signal = signal.Signals(number)
        cadence.stop_requested = True
        # Told from a thread: the signal may have come while an observer was in the middle of a record.
        message = (
            "stopping after this update, and saving; once more: at once, without what came after the last checkpoint"
        )
        shutdown.telling = Thread(target=notify, args=(Event("stopping", message),), daemon=True)
        shutdown.telling.start()

    before = {number: signal.signal(number, ask) for number in _signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
