"""Warnings that a queue runs low: after some patience, with a beginning, a duration and an end."""

from typing import Any

from respawn.contracts.saveable import StateTree
from respawn.schedules.hard_start_config import StartWarningConfig


class StartWarning:
    """Low or not, and since when. Each call of `observe` is one update."""

    def __init__(self, config: StartWarningConfig | None) -> None:
        self._config = config
        self._hits = 0
        self._since: int | None = None

    def observe(self, update: int, status: dict[str, Any], needed_ratio: float | None) -> list[dict[str, Any]]:
        """Take in the status after an update; answers what began or ended with it.

        Args:
          update: which one.
          status: a tracker's.
          needed_ratio: the share of the queue that the rest of the run needs at the recent rate; None: unknown.
        """
        threshold = self.threshold(needed_ratio)
        if threshold is None or status["remaining_ratio"] > threshold:
            return self.resolve(update, status["remaining_ratio"], "cleared")
        self._hits += 1
        if self._since is not None or self._config is None or self._hits < self._config.patience:
            return []
        self._since = update
        return [
            {
                "event": "triggered",
                "iteration": update,
                "tail_stage_label": status["label"],
                "tail_stage_type": status["stage_type"],
                "remaining_ratio": status["remaining_ratio"],
                "remaining": status["remaining"],
                "threshold": threshold,
            }
        ]

    def resolve(self, update: int, ratio: float, event: str) -> list[dict[str, Any]]:
        """End the warning if there is one; answers its end."""
        since, self._since, self._hits = self._since, None, 0
        if since is None:
            return []
        return [
            {
                "event": event,
                "iteration": since,
                "resolved_iteration": update,
                "duration_iterations": update - since + 1,
                "clear_ratio": ratio,
            }
        ]

    def threshold(self, needed_ratio: float | None) -> float | None:
        """From where on the queue is low; None: nothing is."""
        if self._config is None:
            return None
        if self._config.dynamic:
            return needed_ratio or None  # nothing is needed at the end of the run, so nothing is low
        return self._config.ratio or None

    def facts(self, update: int, needed_ratio: float | None) -> dict[str, Any]:
        """The warning as it stands after an update, as plain data."""
        return {
            "warning_active": self._since is not None,
            "warning_since": self._since,
            "warning_duration": 0 if self._since is None else update - self._since + 1,
            "warning_threshold": self.threshold(needed_ratio),
        }

    def state(self) -> StateTree:
        """How long it has been low."""
        return {"hits": self._hits, "since": self._since}

    def restore(self, state: StateTree) -> None:
        """The same again."""
        self._hits = state["hits"]
        self._since = state["since"]
