"""The seam between a run and whoever watches it."""

from typing import Protocol

from respawn.contracts.records import Record
from respawn.contracts.saveable import Saveable


class Observer(Saveable, Protocol):
    """Watches. Receives frozen records; nothing comes back. Its state is where it is in its own output."""

    def receive(self, record: Record) -> None:
        """Take note of one record; kinds it does not care about are passed over."""
        ...

    def close(self) -> None:
        """Write out what is left."""
        ...
