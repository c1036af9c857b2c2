"""The only counters of a run."""

from dataclasses import asdict, dataclass

from respawn.contracts.saveable import StateTree


@dataclass(slots=True)
class Clock:
    """How far a run has come. Decisions, frames and episodes are those that have been learned from."""

    updates: int = 0
    decisions: int = 0
    frames: int = 0
    episodes: int = 0
    seconds: float = 0.0
    """time spent training, over all the processes that took part in the run"""

    def state(self) -> StateTree:
        """All counters by name."""
        return asdict(self)

    def restore(self, state: StateTree) -> None:
        """Take the counters up again."""
        self.updates = state["updates"]
        self.decisions = state["decisions"]
        self.frames = state["frames"]
        self.episodes = state["episodes"]
        self.seconds = state["seconds"]
