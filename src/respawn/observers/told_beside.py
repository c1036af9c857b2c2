"""Telling the others something without being held up by them."""

import threading
from collections.abc import Callable

from respawn.contracts.records import Beat, Record

PATIENCE_SECONDS = 1.0


def told_beside(tell: Callable[[Record], None], patience_seconds: float = PATIENCE_SECONDS) -> Callable[[Record], None]:
    """The same as `tell`, in a thread of its own that is waited for only so long.

    For those who watch whether a run hangs: what hangs may be the hub, and they must go on watching. A beat is let go
    while the last one is still being told, for they come again and again, and threads would heap up.
    """
    beating: threading.Thread | None = None

    def beside(record: Record) -> None:
        nonlocal beating
        is_beat = isinstance(record, Beat)
        if is_beat and beating is not None and beating.is_alive():
            return
        kind = type(record).__name__.lower()
        telling = threading.Thread(target=tell, args=(record,), name=f"tells-{kind}", daemon=True)
        beating = telling if is_beat else beating
        telling.start()
        telling.join(patience_seconds)

    return beside
