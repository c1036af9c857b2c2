"""Which knobs follow which curve, have which windows, and are steered by what."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_between
from respawn.errors import ConfigError
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.level_gate import LevelsConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.windows import KnobWindow, ValueWindow

MOST_FRACTION = 100.0
"""A knob may grow to this many times its setting: enough for a penalty that begins small, too little for a slip."""


@dataclass(frozen=True)
class CurveConfig:
    """A knob's value over the planned length of the run, as a fraction of its own setting."""

    shape: Literal["constant", "linear", "cosine", "warm_cosine", "piecewise"] = "constant"
    """how it goes from its initial to its final fraction; warm_cosine: a straight line half-way over the first fifth,
    a cosine from there; piecewise: by its points alone"""
    warmup_fraction: float = 0.0
    """share of the planned run over which it first rises from near zero to where it begins"""
    final_fraction: float = 0.0
    """what is left of it at the end, or what it has grown to (all but constant and piecewise)"""
    span_fraction: float = 1.0
    """share of the planned run after which it has reached its end, and stays there"""
    initial_fraction: float = 1.0
    """where it begins, or, of a constant, stays (all but piecewise)"""
    points: Annotated[tuple[tuple[float, float], ...], tyro.conf.Suppress] = ()
    """piecewise: (share of the planned run, fraction of the setting) of each corner, straight lines between them; two
    at the same share are a step. Set in a TOML file"""

    def __post_init__(self) -> None:
        """Refuse fractions that are none."""
        if not 0.0 <= self.warmup_fraction < 1.0:
            raise ConfigError(f"a curve's warmup-fraction must be at least 0 and below 1, not {self.warmup_fraction}")
        ends = {"final_fraction": (0.0, MOST_FRACTION), "initial_fraction": (0.0, MOST_FRACTION)}
        check_between("a curve's ", self, ends)
        if not self.warmup_fraction < self.span_fraction <= 1.0:
            raise ConfigError(
                f"a curve's span-fraction must be above its warmup-fraction and at most 1, not {self.span_fraction}"
            )
        self._check_points()

    def _check_points(self) -> None:
        if (self.shape == "piecewise") != bool(self.points):
            raise ConfigError(
                f"a curve has points where its shape is piecewise, and there alone; its shape is {self.shape} and it "
                f"has {len(self.points)} of them: change the shape or the points"
            )
        if self.points:
            for name, usual in (("span_fraction", 1.0), ("initial_fraction", 1.0), ("final_fraction", 0.0)):
                if getattr(self, name) != usual:
                    raise ConfigError(
                        f"a piecewise curve's points say all, so its {name.replace('_', '-')} must be {usual:g}, not "
                        f"{getattr(self, name)}; leave it out"
                    )
        for share, fraction in self.points:
            if not (0.0 <= share <= 1.0 and 0.0 <= fraction <= MOST_FRACTION):
                raise ConfigError(
                    "a curve's points are a share of the planned run from 0 to 1 and a fraction of the setting from 0 "
                    f"to {MOST_FRACTION:g}, and one is ({share:g}, {fraction:g})"
                )
        shares = [share for share, _ in self.points]
        if any(later < earlier for earlier, later in pairwise(shares)):
            raise ConfigError(f"a curve's points must be in the order of their shares, not {shares}; sort them")
        if any(shares.count(share) > 2 for share in shares):
            raise ConfigError(f"two points of a curve at one share make a step, but more are there: {shares}; keep two")

    @property
    def highest_fraction(self) -> float:
        """What the knob's setting is multiplied by at most."""
        if self.shape == "piecewise":
            return max(fraction for _, fraction in self.points)
        return self.initial_fraction if self.shape == "constant" else max(self.initial_fraction, self.final_fraction)

    @property
    def lowest_fraction(self) -> float:
        """What it is multiplied by at least."""
        if self.warmup_fraction > 0.0:
            return 0.0
        if self.shape == "piecewise":
            return min(fraction for _, fraction in self.points)
        return self.initial_fraction if self.shape == "constant" else min(self.initial_fraction, self.final_fraction)

    @property
    def bends(self) -> bool:
        """Whether the value changes at all while the run goes on."""
        if self.shape == "constant":
            return self.warmup_fraction > 0.0
        return True


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
    replay_beta: CurveConfig = field(
        default_factory=lambda: CurveConfig("linear", initial_fraction=0.4, final_fraction=1.0)
    )
    """learners that replay by priority: how much of the bias of that is corrected"""
    entropy_windows: Annotated[tuple[ValueWindow, ...], tyro.conf.Suppress] = ()
    """windows of updates in which the price of a predictable policy is another; any of them replace its curve"""
    curriculum: Annotated[CurriculumConfig | None, tyro.conf.Suppress] = None
    """phases, penalties, a gate and hard starts; none: the world stays as it is"""
    windows: Annotated[tuple[KnobWindow, ...], tyro.conf.Suppress] = ()
    """windows of updates in which any knob has another value; outside of them its curve holds"""
    adaptive: Annotated[tuple[AdaptiveConfig, ...], tyro.conf.Suppress] = ()
    """channels, each of which turns a knob by a signal"""
    progression: ProgressionConfig = field(default_factory=ProgressionConfig)
    """helps for a cold start: actions that are forced for a while"""
    levels: Annotated[LevelsConfig | None, tyro.conf.Suppress] = None
    """Mario: levels that open one after another as they are cleared; none: all are open from the start"""

    def __post_init__(self) -> None:
        """Refuse two that would decide the same knob."""
        steered = Counter(channel.knob for channel in self.adaptive)
        twice = sorted(knob for knob, count in steered.items() if count > 1)
        if twice:
            raise ConfigError(f"schedules.adaptive has two channels for {', '.join(twice)}; leave it to one of them")
        if self.entropy_windows and any(window.knob == "entropy_cost" for window in self.windows):
            raise ConfigError(
                "schedules.entropy_windows and schedules.windows both speak of entropy_cost; keep all of its windows "
                "in schedules.windows"
            )
