"""A curriculum as data: phases, the penalty and the boost in them, the gate and the hard starts."""

from dataclasses import dataclass

from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError
from respawn.schedules.boost import BoostConfig
from respawn.schedules.gate_config import GateConfig
from respawn.schedules.hard_start_config import HardStartsConfig
from respawn.schedules.phases import PenaltyLock, Phase


@dataclass(frozen=True)
class CurriculumConfig:
    """What grows harder while a run goes on. Only knobs that something is said about are turned."""

    phases: tuple[Phase, ...] = ()
    """one after another; together as many updates as are planned"""
    penalty_base: float = 0.0
    """where a ramp in the first phase begins"""
    penalty_lock: PenaltyLock | None = None
    """a lid on the penalty over the first updates"""
    boost: BoostConfig | None = None
    """the boost; none: it is left alone"""
    gate: GateConfig | None = None
    """what evaluations must show before the penalty of later phases is let through; none: nothing"""
    hard_starts: HardStartsConfig | None = None
    """beginnings that training is dealt; none: the world's own"""
    size_knob: str = "school_size"
    """the knob that phases' sizes turn"""
    penalty_knob: str = "density_penalty"
    """… their penalties"""
    boost_knob: str = "escape_boost"
    """… their boosts"""
    share_knob: str = "hard_start_share"
    """the knob that says which share of episodes begin with a hard start"""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        check_at_least("the curriculum's ", self, {"penalty_base": 0.0})
        self._check_all_or_none("size")
        self._check_all_or_none("penalty")
        if self.boost is None and any(p.boost is not None or p.boost_floor is not None for p in self.phases):
            raise ConfigError(
                "phases of the curriculum have a boost, but the curriculum has none; give it its boost too"
            )
        if self.boost is not None and not self.phases:
            raise ConfigError("the curriculum has a boost, but no phases that it could hold in; give it at least one")
        if self.penalty_lock is not None and not self.has_penalty:
            raise ConfigError("the curriculum locks a penalty that no phase has; give the phases one, or drop the lock")
        self._check_gate()
        knobs = [self.size_knob, self.penalty_knob, self.boost_knob, self.share_knob]
        if len(set(knobs)) < len(knobs) or not all(knobs):
            raise ConfigError(f"the curriculum's four knobs must have names of their own, not {', '.join(knobs)}")

    def _check_all_or_none(self, field: str) -> None:
        without = [i for i, phase in enumerate(self.phases, start=1) if getattr(phase, field) is None]
        if without and len(without) < len(self.phases):
            raise ConfigError(
                f"phases {', '.join(map(str, without))} of the curriculum have no {field}, but others do; "
                "give it to all phases or to none"
            )

    def _check_gate(self) -> None:
        if self.gate is None:
            return
        if not self.has_penalty:
            raise ConfigError("the curriculum's gate limits a penalty that no phase has; give the phases one")
        if self.gate.allowance[-1] > len(self.phases):
            raise ConfigError(
                f"the gate's allowance names phase {self.gate.allowance[-1]}, but there are {len(self.phases)} phases"
            )

    @property
    def has_penalty(self) -> bool:
        """Whether phases say what the penalty is."""
        return bool(self.phases) and self.phases[0].penalty is not None

    @property
    def has_size(self) -> bool:
        """Whether phases say what the size is."""
        return bool(self.phases) and self.phases[0].size is not None

    @property
    def says_anything(self) -> bool:
        """Whether it turns any knob."""
        return self.has_penalty or self.has_size or self.boost is not None or self.hard_starts is not None
