"""How far a run is, for observers whose rows come at their own times."""

from respawn.contracts.records import Record, UpdateReport
from respawn.contracts.saveable import StateTree


class Whereabouts:
    """The last update that was reported; in a run that is taken up, that of its checkpoint until there is one."""

    def __init__(self, begins_at: tuple[int, int] = (0, 0)) -> None:
        """Know nothing yet but the update and the decisions that the run begins at: it is being put together."""
        self._begins_at = begins_at
        self._at: tuple[int, int] | None = None  # replaced whole: others look from threads of their own

    @property
    def are_known(self) -> bool:
        """Whether there was any update."""
        return self._at is not None

    def update_and_decisions(self) -> tuple[int, int]:
        """Its number, and the decisions up to it."""
        return self._at or self._begins_at

    def note(self, record: Record) -> None:
        """Take note of an update."""
        if isinstance(record, UpdateReport):
            self._at = (record.update, record.decisions)

    def state(self) -> StateTree:
        """Both."""
        update, decisions = self.update_and_decisions()
        return {"update": update, "decisions": decisions}

    def restore(self, state: StateTree) -> None:
        """Know them again; checkpoints of older versions do not."""
        if "update" in state:
            self._at = (int(state["update"]), int(state["decisions"]))
