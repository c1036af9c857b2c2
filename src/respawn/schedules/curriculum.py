"""The curriculum: phases, penalty, boost, gate and hard starts as one schedule, because each depends on another.

The gate limits the phase that the penalty follows; the penalty caps the boost; the gate's stage has a floor for the
boost; and which limits the gate goes by depends on the kind of hard starts that are being dealt.
"""

from collections.abc import Mapping
from typing import Any

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Start
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.schedules.boost import BoostResolver
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.hard_starts import HardStarts
from respawn.schedules.penalty_gate import PenaltyGate
from respawn.schedules.phases import PhasePlan, penalty_at


class Curriculum:
    """Decides the size, the penalty, the boost and the share of hard starts, and offers these."""

    def __init__(self, config: CurriculumConfig, *, planned_updates: int, num_schools: int) -> None:
        """Build it as it is before the first update.

        Args:
          config: what it is made of; raises ConfigError where that cannot work.
          planned_updates: the length of the run, which the phases must fill.
          num_schools: how many episodes go on side by side.
        """
        self._config = config
        self._plan = PhasePlan(config.phases)
        if config.phases:
            self._plan.check_sum(planned_updates)
        lock_until = config.penalty_lock.until if config.penalty_lock else 0
        self._boost = BoostResolver(config.boost) if config.boost else None
        self._gate = PenaltyGate(config.gate, lock_until=lock_until) if config.gate else None
        self._hard_starts = (
            HardStarts(config.hard_starts, num_schools=num_schools, planned_updates=planned_updates)
            if config.hard_starts
            else None
        )

    @property
    def owns(self) -> frozenset[str]:
        """The knobs that something is said about."""
        config = self._config
        said = {
            config.size_knob: config.has_size,
            config.penalty_knob: config.has_penalty,
            config.boost_knob: config.boost is not None,
            config.share_knob: config.hard_starts is not None,
        }
        return frozenset(knob for knob, is_said in said.items() if is_said)

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """What holds for the update after the clock's."""
        config, update = self._config, clock.updates + 1
        values: dict[str, float] = {}
        if config.has_size:
            size = config.phases[self._plan.index_at(update)].size
            assert size is not None, "the configuration checks that all phases have one"
            values[config.size_knob] = float(size)
        penalty = self._penalty(update)
        if penalty is not None:
            values[config.penalty_knob] = penalty
        if self._boost is not None:
            index = self._plan.index_at(update)
            values[config.boost_knob] = self._boost.effective(index, config.phases[index], penalty)
        if self._hard_starts is not None:
            values[config.share_knob] = self._hard_starts.share(clock)
        return values

    def starts(self, clock: Clock) -> tuple[Start, ...]:
        """The next hard starts, if there are any."""
        return () if self._hard_starts is None else self._hard_starts.starts(clock)

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """Let every part know what concerns it; answers what they concluded."""
        return self._after_update(report) if isinstance(report, UpdateReport) else self._after_evaluation(report)

    def _after_update(self, report: UpdateReport) -> tuple[Ruling, ...]:
        held = Ruling(report.update, "curriculum", self._held_in(report.update))  # before anything moves on
        if self._boost is not None:
            index = self._plan.index_at(report.update)
            stage = self._gate.stage if self._gate is not None else 0
            self._boost.observe(report.metrics, report.update, index, self._config.phases[index], stage)
        dealt = () if self._hard_starts is None else self._hard_starts.observe_update(report)
        return (held, *dealt)

    def _after_evaluation(self, report: EvaluationReport) -> tuple[Ruling, ...]:
        kind = "" if self._hard_starts is None else self._hard_starts.kind(report.update)
        decided = () if self._gate is None else self._gate.observe(report, kind)
        harvested = () if self._hard_starts is None else self._hard_starts.observe_evaluation(report)
        return (*decided, *harvested)

    def _held_in(self, update: int) -> dict[str, Any]:
        """What held in an update, by what it means and not by its knob's name."""
        config = self._config
        values = self.decide(Clock(updates=update - 1))
        index = self._plan.index_at(update) if config.phases else None
        return {
            "phase": None if index is None else index + 1,
            "penalty_phase": None if index is None else self._highest(index) + 1,
            "size": values.get(config.size_knob),
            "penalty": values.get(config.penalty_knob),
            "boost": values.get(config.boost_knob),
            "boost_base": (
                None if self._boost is None or index is None else self._boost.base(index, config.phases[index])
            ),
            "hard_start_share": values.get(config.share_knob),
            "gate_stage": None if self._gate is None else self._gate.stage,
        }

    def _highest(self, index: int) -> int:
        return index if self._gate is None else min(index, self._gate.phase_limit)

    def _penalty(self, update: int) -> float | None:
        if not self._config.has_penalty:
            return None
        return penalty_at(
            self._plan,
            update,
            base=self._config.penalty_base,
            lock=self._config.penalty_lock,
            highest_phase=None if self._gate is None else self._gate.phase_limit,
        )

    def state(self) -> StateTree:
        """What each part remembers."""
        parts = {"boost": self._boost, "gate": self._gate, "hard_starts": self._hard_starts}
        return {name: part.state() for name, part in parts.items() if part is not None}

    def restore(self, state: StateTree) -> None:
        """What each part remembers, again."""
        if self._boost is not None:
            self._boost.restore(state["boost"])
        if self._gate is not None:
            self._gate.restore(state["gate"])
        if self._hard_starts is not None:
            self._hard_starts.restore(state["hard_starts"])
