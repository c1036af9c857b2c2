"""Beginnings that wait for an episode: each is taken once, in order, at a rate that is kept exactly."""

from respawn.contracts.knobs import Start
from respawn.contracts.saveable import StateTree

_ROUNDING = 1e-9


class StartQueue:
    """What a schedule offers, and how far it was used."""

    def __init__(self) -> None:
        self._offered: tuple[Start, ...] = ()
        self._share = 0.0
        self._next_number = 0
        self._owed = 0.0

    def begin(self) -> None:
        """Nothing was taken yet."""
        self._next_number = 0
        self._owed = 0.0

    def offer(self, starts: tuple[Start, ...], share: float) -> None:
        """Take over what waits now, and the share of episodes that are to begin with it."""
        self._offered = starts
        self._share = share

    def take(self, count: int) -> list[Start | None]:
        """What the next `count` episodes begin with; None: as the dice fall."""
        waiting = [start for start in self._offered if start.number >= self._next_number]
        if not waiting or self._share == 0.0:
            return [None] * count
        taken: list[Start | None] = []
        for _ in range(count):
            self._owed += self._share
            if self._owed >= 1.0 - _ROUNDING and waiting:
                self._owed -= 1.0
                taken.append(waiting.pop(0))
                self._next_number = taken[-1].number + 1 if taken[-1] is not None else self._next_number
            else:
                taken.append(None)
        # What could not be had is not made up for: a queue that fills again would else be emptied at one stroke.
        self._owed = min(self._owed, 1.0)
        return taken

    def state(self) -> StateTree:
        """How far it was used; what waits comes again with the next knobs."""
        return {"next_number": self._next_number, "owed": self._owed}

    def restore(self, state: StateTree) -> None:
        """Go on from there."""
        self._next_number = state["next_number"]
        self._owed = state["owed"]
