"""The level gate: levels that open one after another, and close again, as evaluations clear those that are open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError
from respawn.schedules.gate_config import Criterion, GateConfig
from respawn.schedules.penalty_gate import PenaltyGate

FIRST_LEVEL, LAST_LEVEL = "first_level", "last_level"
CLEARED_OPEN = "evaluation/cleared_open"
CLEARED_OPEN_WORST = "evaluation/cleared_open_worst"
_SAID = (
    "event", "stage", "success_streak", "freeze_until", "failure_detected", "failure_streak", "failure_tolerance",
    "missing", "changed",
)  # fmt: skip
"""What a penalty gate says that means something here."""


@dataclass(frozen=True)
class LevelsConfig:
    """Which levels training episodes begin in, stage by stage; evaluations play all of the world's levels."""

    stages: tuple[int, ...] = ()
    """one entry a stage, rising: its last open level, as a place in world.levels from 1; none: one more in each"""
    keep: int = 0
    """how many levels are open at a time, the last ones; 0: all from the first"""
    advance_at: float = 0.8
    """the clear rate that the worst open level must reach for the next stage to open"""
    fall_back_below: float = 0.3
    """the mean clear rate of the open levels below which a stage closes again; 0: none does"""
    required_successes: int = 2
    """evaluations in a row that must reach the one"""
    failure_tolerance: int = 2
    """evaluations in a row that must miss the other"""
    freeze_updates: int = 0
    """how long nothing opens after a stage opened, or a failure"""
    lock_until: int = 0
    """no stage opens up to this update"""

    def __post_init__(self) -> None:
        """Refuse what cannot open or close anything."""
        prefix = "schedules.levels."
        check_between(prefix, self, {"advance_at": (0.0, 1.0), "fall_back_below": (0.0, 1.0)})
        check_at_least(prefix, self, {"keep": 0, "required_successes": 1, "failure_tolerance": 1})
        check_at_least(prefix, self, {"freeze_updates": 0, "lock_until": 0})
        if self.advance_at == 0.0:
            raise ConfigError("schedules.levels.advance-at must be above 0, or any policy opens every level; raise it")
        rising = list(self.stages) == sorted(set(self.stages))
        if self.stages and (not rising or self.stages[0] < 1):
            raise ConfigError(
                f"schedules.levels.stages must be places of levels, from 1 and rising, not {list(self.stages)}"
            )

    def for_levels(self, num_levels: int) -> "LevelsConfig":
        """The same for a world of so many levels, all said; raises ConfigError where the two do not fit."""
        stages = self.stages or tuple(range(1, num_levels + 1))
        if stages[-1] > num_levels:
            raise ConfigError(
                f"schedules.levels.stages names level {stages[-1]}, and world.levels has {num_levels}; name fewer"
            )
        if len(stages) == 1:
            raise ConfigError(
                "schedules.levels needs at least two stages, for with one nothing ever opens; name more levels in "
                "world.levels, or more stages"
            )
        said = replace(self, stages=stages)
        for stage in range(1, len(stages)):
            said._check_just_opened(stage)
        return said

    def window(self, stage: int) -> tuple[int, int]:
        """The first and the last level that a stage, from 0, has open."""
        last = self.stages[stage]
        return (max(last - self.keep + 1, 1) if self.keep else 1), last

    def _check_just_opened(self, stage: int) -> None:
        """New levels are cleared by nobody yet: that alone must not close them again."""
        (_, before), (first, last) = self.window(stage - 1), self.window(stage)
        known = max(before - first + 1, 0)
        least = self.advance_at * known / (last - first + 1)
        if self.fall_back_below > least:
            raise ConfigError(
                f"schedules.levels.fall-back-below is {self.fall_back_below:g}, and when stage {stage + 1} opens, the "
                f"mean of its {last - first + 1} levels may be {least:g}, for only {known} of them were learned, which "
                f"would close it at once; lower it to {least:g}, keep more levels, or open fewer at a time"
            )


class LevelGate:
    """Decides which levels are open: a penalty gate whose stages are levels."""

    def __init__(self, config: LevelsConfig) -> None:
        """Build it with the first stage open.

        Args:
          config: as `for_levels` made it.
        """
        self._config = config
        closing = (Criterion(CLEARED_OPEN, at_least=config.fall_back_below),) if config.fall_back_below else ()
        self._gate = PenaltyGate(
            GateConfig(
                allowance=config.stages,
                required_successes=config.required_successes,
                freeze_updates=config.freeze_updates,
                lock_until=config.lock_until,
                failure_tolerance=config.failure_tolerance,
                success=(Criterion(CLEARED_OPEN_WORST, at_least=config.advance_at),),
                failure=closing,
            )
        )

    @property
    def owns(self) -> frozenset[str]:
        """Both ends of what is open."""
        return frozenset({FIRST_LEVEL, LAST_LEVEL})

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """What the stage has open."""
        first, last = self._config.window(self._gate.stage)
        return {FIRST_LEVEL: float(first), LAST_LEVEL: float(last)}

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """Move on evaluations; answers what was decided under `level_gate`, and why under `level_gate_criteria`."""
        if isinstance(report, UpdateReport):
            return ()
        return tuple(self._told(ruling) for ruling in self._gate.observe(report))

    def _told(self, ruling: Ruling) -> Ruling:
        name = ruling.schedule.replace("penalty", "level")
        if ruling.schedule != "penalty_gate":
            return replace(ruling, schedule=name)
        first, last = self._config.window(self._gate.stage)
        facts: dict[str, Any] = {key: ruling.facts[key] for key in _SAID if key in ruling.facts}
        return replace(ruling, schedule=name, facts={**facts, FIRST_LEVEL: first, LAST_LEVEL: last})

    def state(self) -> StateTree:
        """The gate's."""
        return self._gate.state()

    def restore(self, state: StateTree) -> None:
        """The gate's again."""
        self._gate.restore(state)
