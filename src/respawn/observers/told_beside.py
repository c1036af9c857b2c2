"""Telling the others something without being held up by them."""

import threading
from collections.abc import Callable

from respawn.contracts.records import Record

PATIENCE_SECONDS = 1.0


def told_beside(tell: Callable[[Record], None], patience_seconds: float = PATIENCE_SECONDS) -> Callable[[Record], None]:
    """The same as `tell`, in a thread of its own that is waited for only so long.

    For those who watch whether a run hangs: what hangs may be the hub, and they must go on watching.
    """

    def beside(record: Record) -> None:
        kind = type(record).__name__.lower()
        telling = threading.Thread(target=tell, args=(record,), name=f"tells-{kind}", daemon=True)
        telling.start()
        telling.join(patience_seconds)

    return beside
