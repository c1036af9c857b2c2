"""Which hard starts are dealt when, as data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError
from respawn.schedules.start_clusters import StartFilter

HARVESTED = "harvested"


@dataclass(frozen=True)
class HardStartStage:
    """Starts of one sort, for a while."""

    iterations: int
    """how long: episodes of each school, or updates, as the unit says"""
    file: str | None = None
    """a file of starts: its path, or the name of one that comes with the package; none: what evaluations yielded"""
    kind: str = "main"
    """what sort of starts these are"""
    label: str = ""
    """what to call the stage; empty: its number and its file"""
    velocity_scale: float = 1.0
    """times which the velocities of the file are taken: below 1 for a buffer between easy and hard"""
    share: float | None = None
    """share of episodes that begin with a hard start while it lasts; none: the share of all stages"""

    def __post_init__(self) -> None:
        """Refuse what is no stage."""
        prefix = "a hard-start stage's "
        check_at_least(prefix, self, {"iterations": 1})
        check_above(prefix, self, {"velocity_scale": 0.0})
        check_between(prefix, self, {"share": (0.0, 1.0)})
        if self.file is not None and not self.file.strip():
            raise ConfigError(
                "a hard-start stage's file has an empty name; name a file, or leave it out for the harvest"
            )
        if not self.kind or self.kind != self.kind.strip().lower():
            raise ConfigError(f"a hard-start stage's kind must be a word in lower case, not '{self.kind}'")

    def name(self, number: int) -> str:
        """The label, or one made from the stage's number, from 1, and its file."""
        return self.label or f"stage{number}:{Path(self.file).stem if self.file else HARVESTED}"


@dataclass(frozen=True)
class StartWarningConfig:
    """When to warn that hard starts run out."""

    ratio: float = 0.65
    """the share of the queue that is left, from which on it is low; 0: no warnings, unless dynamic"""
    patience: int = 3
    """updates in a row that it must be low"""
    dynamic: bool = False
    """instead of the ratio, take what the rest of the planned run needs at the recent rate"""

    def __post_init__(self) -> None:
        """Refuse what cannot warn."""
        check_between("a start warning's ", self, {"ratio": (0.0, 1.0)})
        check_at_least("a start warning's ", self, {"patience": 1})


@dataclass(frozen=True)
class MinReinjections:
    """A promise that starts of a kind come back."""

    kind: str
    """which kind"""
    count: int
    """how often, after the first time, spread evenly over the planned run"""

    def __post_init__(self) -> None:
        """Refuse what promises nothing."""
        check_at_least("a re-injection's ", self, {"count": 1})


@dataclass(frozen=True)
class HarvestConfig:
    """What is kept of the worst starts that evaluations find."""

    most: int = 64
    """how many at most; the oldest go first"""
    per_evaluation: int = 8
    """how many of one evaluation at most, the worst first"""
    filter: StartFilter = field(default_factory=lambda: StartFilter(duplicate_tolerance=1e-3, most_per_cluster=8))
    """what makes the collection even"""

    def __post_init__(self) -> None:
        """Refuse what keeps nothing."""
        check_at_least("the harvest's ", self, {"most": 1, "per_evaluation": 1})


@dataclass(frozen=True)
class HardStartsConfig:
    """A queue of hard starts that training episodes are begun with."""

    stages: tuple[HardStartStage, ...]
    """one after another"""
    unit: Literal["episodes", "updates"] = "updates"
    """what the stages' iterations count: updates, or, as in the system that this replaces, episodes of each school"""
    share: float = 1.0
    """share of episodes that begin with a hard start; the world sees to it"""
    final_fraction: float = 1.0
    """what is left of every share at the end of the planned run, to which it falls evenly"""
    cycled: bool = False
    """begin again at the end; else the queue is exhausted there"""
    kinds: tuple[str, ...] = ("main", "ne", "buffer", HARVESTED)
    """kinds that stages may have; none: any"""
    offered_per_school: int = 2
    """starts laid out for one rollout, for each school"""
    forecast_updates: int = 16
    """updates over which consumption is averaged to foresee the end"""
    warning: StartWarningConfig | None = None
    """when to warn; none: never"""
    min_reinjections: tuple[MinReinjections, ...] = ()
    """kinds that must come back"""
    harvest: HarvestConfig = field(default_factory=HarvestConfig)
    """what stages without a file are fed with"""

    def __post_init__(self) -> None:
        """Refuse what is no queue."""
        prefix = "the hard starts' "
        if not self.stages:
            raise ConfigError("the hard starts have no stages; give at least one, or leave hard starts out")
        check_between(prefix, self, {"share": (0.0, 1.0), "final_fraction": (0.0, 1.0)})
        check_at_least(prefix, self, {"offered_per_school": 1, "forecast_updates": 1})
        if self.kinds:
            self._check_kinds()
        for promise in self.min_reinjections:
            self._check_promise(promise)

    def _check_kinds(self) -> None:
        known = ", ".join(self.kinds)
        for number, stage in enumerate(self.stages, start=1):
            if stage.kind not in self.kinds:
                raise ConfigError(
                    f"{stage.name(number)} is of the kind '{stage.kind}', and the kinds here are {known}; "
                    "correct it, or add it to the kinds"
                )

    def _check_promise(self, promise: MinReinjections) -> None:
        num_stages = sum(stage.kind == promise.kind for stage in self.stages)
        if num_stages == 0 or (num_stages <= promise.count and not self.cycled):
            raise ConfigError(
                f"starts of the kind '{promise.kind}' are to come back {promise.count} times, which takes "
                f"{promise.count + 1} stages of that kind, and there are {num_stages}; add stages, or have them cycled"
            )
