"""All schedules together: one value for every declared knob. Conflicts are errors at the start, not surprises later."""

from collections.abc import Sequence

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.schedule import OffersScripts, OffersStarts, Schedule
from respawn.errors import KnobError


class Director:
    """Asks each schedule for the knobs it owns; the others keep their defaults."""

    def __init__(self, specs: Sequence[KnobSpec], schedules: Sequence[Schedule]) -> None:
        self._specs = {spec.name: spec for spec in specs}
        if len(self._specs) < len(specs):
            names = [spec.name for spec in specs]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise KnobError(f"knobs {twice} are declared twice; give each consumer's knob a name of its own")
        self._schedules = tuple(schedules)
        self._check_defaults()
        self._check_owners()

    def _check_defaults(self) -> None:
        for spec in self._specs.values():
            if not spec.low <= spec.default <= spec.high:
                raise KnobError(
                    f"'{spec.name}' must lie from {spec.low:g} to {spec.high:g}, but is set to {spec.default:g}; "
                    "change the setting of that name"
                )

    def _check_owners(self) -> None:
        owned: set[str] = set()
        for schedule in self._schedules:
            for name in sorted(schedule.owns):
                if name not in self._specs:
                    known = ", ".join(sorted(self._specs)) or "none"
                    raise KnobError(f"a schedule decides '{name}', which nothing consumes; the knobs here are: {known}")
                if name in owned:
                    raise KnobError(f"two schedules decide '{name}'; leave it to one of them")
                owned.add(name)
        if sum(isinstance(schedule, OffersStarts) for schedule in self._schedules) > 1:
            raise KnobError("two schedules say where episodes begin; leave it to one of them")
        if sum(isinstance(schedule, OffersScripts) for schedule in self._schedules) > 1:
            raise KnobError("two schedules say which actions are forced; leave it to one of them")

    def knobs(self, clock: Clock) -> Knobs:
        """What holds for the update after the clock's."""
        values = {name: spec.default for name, spec in self._specs.items()}
        for schedule in self._schedules:
            values.update(schedule.decide(clock))
        for name, value in values.items():
            spec = self._specs[name]
            if not spec.low <= value <= spec.high:
                raise KnobError(f"'{name}' must lie from {spec.low:g} to {spec.high:g}; a schedule set it to {value:g}")
        starts = [s.starts(clock) for s in self._schedules if isinstance(s, OffersStarts)]
        scripts = [s.scripts(clock) for s in self._schedules if isinstance(s, OffersScripts)]
        return Knobs(
            version=clock.updates,
            values=values,
            starts=starts[0] if starts else (),
            scripts=scripts[0] if scripts else (),
        )

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """Let every schedule know; answers what they concluded, in their order."""
        return tuple(ruling for schedule in self._schedules for ruling in schedule.observe(report))

    def state(self) -> StateTree:
        """Each schedule's state, in order."""
        return {"schedules": [schedule.state() for schedule in self._schedules]}

    def restore(self, state: StateTree) -> None:
        """Each schedule's state back."""
        for schedule, saved in zip(self._schedules, state["schedules"], strict=True):
            schedule.restore(saved)
