"""The boost: a phase's own, raised to floors, lowered by caps, and bent by how early the first ones fall."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median

from respawn.contracts.saveable import StateTree
from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError
from respawn.schedules.phases import Phase


@dataclass(frozen=True)
class PenaltyCap:
    """A lid on the boost where the penalty is high."""

    penalty: float
    """from this penalty on"""
    cap: float
    """the boost is at most this"""

    def __post_init__(self) -> None:
        """Refuse what is no cap."""
        check_at_least("a penalty cap's ", self, {"penalty": 0.0, "cap": 0.0})


@dataclass(frozen=True)
class StageFloor:
    """What the adaptive boost may not fall below in a stage of the gate."""

    stage: int
    """the gate's stage, from 0"""
    floor: float
    """the least boost there"""

    def __post_init__(self) -> None:
        """Refuse what is no floor."""
        check_at_least("a stage floor's ", self, {"stage": 0, "floor": 0.0})


@dataclass(frozen=True)
class AdaptiveBoostConfig:
    """A boost that follows a metric of the updates."""

    metric: str = "episode/first_death_p10"
    """which one"""
    window: int = 4
    """how many of its last values count; nothing happens before there are as many"""
    lower: float = 12.0
    """below this the boost goes to low-speed"""
    upper: float = 18.0
    """above this it goes to high-speed"""
    low_speed: float = 0.76
    """where it goes when the metric is low"""
    high_speed: float = 0.8
    """where it goes when the metric is high"""
    min_update: int = 12
    """the first update after which it may move"""
    use_median: bool = True
    """go by the median of the window; else by its mean"""
    stage_floors: tuple[StageFloor, ...] = ()
    """what the gate's stages do not let it fall below"""

    def __post_init__(self) -> None:
        """Refuse what cannot adapt."""
        prefix = "the adaptive boost's "
        check_at_least(prefix, self, {"window": 1, "min_update": 0, "low_speed": 0.0, "high_speed": 0.0})
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower <= self.upper):
            raise ConfigError(
                f"the adaptive boost's lower must be finite and at most its upper, but they are {self.lower} and "
                f"{self.upper}; swap them"
            )
        stages = [floor.stage for floor in self.stage_floors]
        if len(set(stages)) < len(stages):
            raise ConfigError(f"the adaptive boost's stage-floors name a stage twice: {stages}; keep one of them")


@dataclass(frozen=True)
class BoostConfig:
    """What the boost is where no phase says otherwise, and what moves it."""

    speed: float = 0.75
    """the boost of phases that name none"""
    floor: float = 0.75
    """the floor of phases that name none"""
    caps: tuple[PenaltyCap, ...] = ()
    """lids where the penalty is high; all that apply do"""
    adaptive: AdaptiveBoostConfig | None = None
    """follow a metric; none: the phases alone decide"""

    def __post_init__(self) -> None:
        """Refuse speeds that are none."""
        check_at_least("the boost's ", self, {"speed": 0.0, "floor": 0.0})


class BoostResolver:
    """The boost of each update. Remembers the metric's last values, and where they led within the current phase."""

    def __init__(self, config: BoostConfig) -> None:
        self._config = config
        self._seen: deque[float] = deque(maxlen=config.adaptive.window if config.adaptive else 1)
        self._moved_in: int | None = None
        self._moved_to = 0.0

    def base(self, index: int, phase: Phase) -> float:
        """The boost of a phase before caps: its own, or where the metric has led it since it began."""
        return self._moved_to if self._moved_in == index else self._own(phase)

    def effective(self, index: int, phase: Phase, penalty: float | None) -> float:
        """The boost that holds, given the penalty that holds beside it."""
        speed = self.base(index, phase)
        return min([speed, *(cap.cap for cap in self._config.caps if penalty is not None and penalty >= cap.penalty)])

    def observe(self, metrics: Mapping[str, float], update: int, index: int, phase: Phase, gate_stage: int) -> None:
        """Take in an update of a phase."""
        adaptive = self._config.adaptive
        if adaptive is None:
            return
        value = metrics.get(adaptive.metric)
        if value is not None and math.isfinite(value):
            self._seen.append(value)
        if update < adaptive.min_update or len(self._seen) < adaptive.window:
            return
        target = self._target(adaptive)
        if target is None:
            return
        floor = max([self._floor(phase), *(f.floor for f in adaptive.stage_floors if f.stage == gate_stage)])
        self._moved_in = index
        self._moved_to = max(min(max(self._own(phase), floor), target), floor)

    def _target(self, adaptive: AdaptiveBoostConfig) -> float | None:
        level = median(self._seen) if adaptive.use_median else fmean(self._seen)
        if level < adaptive.lower:
            return adaptive.low_speed
        return adaptive.high_speed if level > adaptive.upper else None

    def _own(self, phase: Phase) -> float:
        return max(self._config.speed if phase.boost is None else phase.boost, self._floor(phase))

    def _floor(self, phase: Phase) -> float:
        return self._config.floor if phase.boost_floor is None else phase.boost_floor

    def state(self) -> StateTree:
        """What was seen and where it led."""
        return {"seen": list(self._seen), "moved_in": self._moved_in, "moved_to": self._moved_to}

    def restore(self, state: StateTree) -> None:
        """The same again."""
        self._seen.clear()
        self._seen.extend(state["seen"])
        self._moved_in = state["moved_in"]
        self._moved_to = state["moved_to"]
