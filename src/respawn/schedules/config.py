"""Which knobs follow which curve."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from respawn.errors import ConfigError
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.windows import ValueWindow


@dataclass(frozen=True)
class CurveConfig:
    """A knob's value over the planned length of the run, as a fraction of its own setting."""

    shape: Literal["constant", "linear", "cosine", "warm_cosine"] = "constant"
    """how it goes from its setting to its final fraction; warm_cosine: a straight fall to half over the first fifth,
    a cosine from there"""
    warmup_fraction: float = 0.0
    """share of the planned run over which it first rises from near zero to its setting"""
    final_fraction: float = 0.0
    """what is left of it at the end (all but constant)"""
    span_fraction: float = 1.0
    """share of the planned run after which it has reached its end, and stays there"""

    def __post_init__(self) -> None:
        """Refuse fractions that are none."""
        if not 0.0 <= self.warmup_fraction < 1.0:
            raise ConfigError(f"a curve's warmup-fraction must be at least 0 and below 1, not {self.warmup_fraction}")
        if not 0.0 <= self.final_fraction <= 1.0:
            raise ConfigError(f"a curve's final-fraction must be from 0 to 1, not {self.final_fraction}")
        if not self.warmup_fraction < self.span_fraction <= 1.0:
            raise ConfigError(
                f"a curve's span-fraction must be above its warmup-fraction and at most 1, not {self.span_fraction}"
            )


@dataclass(frozen=True)
class SchedulesConfig:
    """How numbers change while the run goes on."""

    learning_rate: CurveConfig = field(
        default_factory=lambda: CurveConfig(shape="cosine", warmup_fraction=0.02, final_fraction=0.05)
    )
    """the learning rate over the whole planned run"""
    entropy_cost: CurveConfig = field(default_factory=CurveConfig)
    """the price of a predictable policy over the whole planned run"""
    reward_scale: CurveConfig = field(default_factory=CurveConfig)
    """worlds that shape their rewards: the scale"""
    reward_distance: CurveConfig = field(default_factory=CurveConfig)
    """… what distance is worth"""
    reward_score: CurveConfig = field(default_factory=CurveConfig)
    """… what points are worth"""
    reward_time: CurveConfig = field(default_factory=CurveConfig)
    """… what time costs"""
    reward_flag: CurveConfig = field(default_factory=CurveConfig)
    """… what a flag is worth"""
    reward_death: CurveConfig = field(default_factory=CurveConfig)
    """… what a death costs"""
    reward_milestone: CurveConfig = field(default_factory=CurveConfig)
    """… what a milestone is worth"""
    entropy_windows: Annotated[tuple[ValueWindow, ...], tyro.conf.Suppress] = ()
    """windows of updates in which the price of a predictable policy is another; any of them replace its curve"""
    curriculum: Annotated[CurriculumConfig | None, tyro.conf.Suppress] = None
    """phases, penalties, a gate and hard starts; none: the world stays as it is"""
