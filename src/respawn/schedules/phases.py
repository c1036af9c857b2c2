"""A plan made of phases: which one an update belongs to, and the penalty that holds there."""

from collections.abc import Sequence
from dataclasses import dataclass

from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError

_PHASE = "a phase's "


@dataclass(frozen=True)
class Phase:
    """A stretch of the planned run, and what holds in it."""

    updates: int
    """how many updates it lasts"""
    size: int | None = None
    """how many live in one episode; none: no phase says so"""
    penalty: float | None = None
    """where the penalty stands, or, with a ramp, ends up; none: no phase says so"""
    ramp: bool = False
    """go to the penalty in even steps from that of the phase before, instead of at once"""
    plateau_updates: int = 0
    """with a ramp: how long the penalty of the phase before is held first"""
    boost: float | None = None
    """the boost that the phase begins with; none: the curriculum's own"""
    boost_floor: float | None = None
    """what the phase never lets the boost fall below, caps apart; none: the curriculum's own"""

    def __post_init__(self) -> None:
        """Refuse what no phase can be."""
        check_at_least(_PHASE, self, {"updates": 1, "size": 1, "plateau_updates": 0})
        check_at_least(_PHASE, self, {"penalty": 0.0, "boost": 0.0, "boost_floor": 0.0})
        if self.ramp and self.penalty is None:
            raise ConfigError("a phase's ramp needs a penalty to go to, and there is none; set its penalty")
        if self.ramp and self.plateau_updates >= self.updates:
            raise ConfigError(
                f"a phase's plateau-updates must be below its {self.updates} updates where it ramps, "
                f"not {self.plateau_updates}: nothing would be left to ramp in"
            )


@dataclass(frozen=True)
class PenaltyLock:
    """A lid on the penalty over the first updates."""

    value: float
    """the most that the penalty may be"""
    until: int
    """the last update for which that holds"""

    def __post_init__(self) -> None:
        """Refuse what locks nothing."""
        check_at_least("a penalty lock's ", self, {"value": 0.0, "until": 1})


class PhasePlan:
    """Phases one after another. Updates are counted from 1, phases from 0; past the end the last one goes on."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        self.phases = tuple(phases)
        self._lasts: list[int] = []
        for phase in self.phases:
            self._lasts.append(phase.updates + (self._lasts[-1] if self._lasts else 0))

    def check_sum(self, planned_updates: int) -> None:
        """Refuse phases that do not fill the plan."""
        total = self._lasts[-1]
        if total != planned_updates:
            raise ConfigError(
                f"the phases of the curriculum last {total} updates together, but {planned_updates} are planned; "
                "lengthen or shorten one of them, or plan as many"
            )

    def index_at(self, update: int) -> int:
        """The phase of an update."""
        return next((index for index, last in enumerate(self._lasts) if update <= last), len(self._lasts) - 1)

    def updates_of(self, index: int) -> tuple[int, int]:
        """The first and the last update of a phase."""
        return self._lasts[index] - self.phases[index].updates + 1, self._lasts[index]


def penalty_at(
    plan: PhasePlan,
    update: int,
    *,
    base: float = 0.0,
    lock: PenaltyLock | None = None,
    highest_phase: int | None = None,
) -> float:
    """The penalty for an update.

    Args:
      plan: phases that all have a penalty.
      update: the one about to be made, counted from 1.
      base: where a ramp in the first phase begins.
      lock: a lid on the first updates.
      highest_phase: the last phase that a gate lets through, from 0; later ones get the penalty of that one.
    """
    index = plan.index_at(update)
    if highest_phase is not None:
        index = min(index, highest_phase)
    value = _unlocked_penalty(plan, index, update, base)
    return min(value, lock.value) if lock is not None and update <= lock.until else value


def _unlocked_penalty(plan: PhasePlan, index: int, update: int, base: float) -> float:
    phase = plan.phases[index]
    assert phase.penalty is not None, "the curriculum checks that all phases have a penalty"
    if not phase.ramp or phase.updates == 1:
        return phase.penalty
    before = plan.phases[index - 1].penalty if index > 0 else base
    assert before is not None, "the curriculum checks that all phases have a penalty"
    first, last = plan.updates_of(index)
    ramp_from = first + phase.plateau_updates
    within = min(max(update, first), last)  # a phase that a gate holds back is over, and one it rolled back to as well
    if within < ramp_from:
        return before
    if ramp_from == last:
        return phase.penalty
    return before + (phase.penalty - before) * (within - ramp_from) / (last - ramp_from)
