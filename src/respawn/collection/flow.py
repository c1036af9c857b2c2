"""Who waits for whom between the learner and its actors, and how old the weights are that gather."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

from respawn.contracts.records import Event, Rollout

RECENT_ROLLOUTS = 50
"""over so many everything here is summed up"""
NOTICEABLE = 0.1
"""whoever waits for less than this share of the time is not held up"""

ADVICE = {
    "the actors": "more actors, or fewer steps in each rollout, would make the run faster where cores are free",
    "the learner": "fewer actors would do, and would leave their cores and the age of the weights to others",
    "neither": "both sides are busy",
}


@dataclass(frozen=True)
class _Handover:
    between_seconds: float
    """since the rollout before was handed over"""
    learner_waited: float
    actor_waited: float
    actor_worked: float
    lag: int


class Flow:
    """Measured whenever a rollout is handed over. Says so by name when the bottleneck becomes another."""

    def __init__(self, notify: Callable[[Event], None]) -> None:
        self._notify = notify
        self._recent: deque[_Handover] = deque(maxlen=RECENT_ROLLOUTS)
        self._since_told = 0
        self._told = ""
        self._last: float | None = None

    def note(self, rollout: Rollout, waited_seconds: float, lag: int) -> dict[str, float]:
        """Take note of a rollout that is handed over; answers how it goes, by name.

        Args:
          rollout: says how long its actor stood still before it, and worked on it.
          waited_seconds: how long the learner waited for it.
          lag: updates between the weights that gathered it and those that learn from it.
        """
        now, seconds = perf_counter(), rollout.phase_seconds
        between = waited_seconds if self._last is None else now - self._last
        self._last = now
        worked = seconds.get("collect", 0.0) + seconds.get("hand_over", 0.0)
        self._recent.append(_Handover(between, waited_seconds, seconds.get("back_pressure", 0.0), worked, lag))
        learner_share, actors_share = self._shares()
        self._since_told += 1
        if self._since_told == RECENT_ROLLOUTS:
            self._since_told = 0
            self._tell(learner_share, actors_share)
        return {
            "learner_waiting_share": learner_share,
            "actors_waiting_share": actors_share,
            "lag_mean": fmean(handover.lag for handover in self._recent),
            "lag_max": float(max(handover.lag for handover in self._recent)),
        }

    def _shares(self) -> tuple[float, float]:
        between = sum(handover.between_seconds for handover in self._recent)
        stood = sum(handover.actor_waited for handover in self._recent)
        worked = sum(handover.actor_worked for handover in self._recent)
        waited = sum(handover.learner_waited for handover in self._recent)
        return waited / max(between, 1e-9), stood / max(stood + worked, 1e-9)

    def _tell(self, learner_share: float, actors_share: float) -> None:
        name = bottleneck(learner_share, actors_share)
        if name == self._told:
            return
        self._told = name
        message = (
            f"bottleneck: {name}; over the last {RECENT_ROLLOUTS} rollouts the learner waited {learner_share:.0%} of "
            f"the time for rollouts, the actors {actors_share:.0%} of theirs for a free place: {ADVICE[name]}"
        )
        shares = {"learner_waiting_share": learner_share, "actors_waiting_share": actors_share}
        self._notify(Event("bottleneck", message, "info", {"bottleneck": name, **shares}))


def bottleneck(learner_share: float, actors_share: float) -> str:
    """Who holds up whom, given the share of its time that each side waits."""
    if max(learner_share, actors_share) < NOTICEABLE:
        return "neither"
    return "the actors" if learner_share >= actors_share else "the learner"
