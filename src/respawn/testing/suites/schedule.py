"""What every Schedule must pass."""

import math
from collections.abc import Callable, Sequence

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.contracts.schedule import Schedule
from respawn.testing.suites.saveable import check_plain, freeze

MakeSchedule = Callable[[], Schedule]


def check_schedule(
    make: MakeSchedule,
    knobs: Sequence[KnobSpec],
    reports: Sequence[UpdateReport | EvaluationReport] = (),
    *,
    num_updates: int = 50,
) -> None:
    """Check a schedule against its contract; raises AssertionError with a sentence that says what is wrong.

    Args:
      make: A new schedule, the same every time.
      knobs: Those that the schedule owns, with their ranges.
      reports: What it is to see, one an update, over and over; without any, something plain.
      num_updates: How far to follow it; as far as its plan goes, and further.
    """
    straight = _follow(make(), 0, num_updates, reports)
    assert straight == _follow(make(), 0, num_updates, reports), "a second one, made the same way, decided otherwise"
    _check_decisions(make(), knobs, straight)
    halfway = num_updates // 2
    schedule = make()
    _follow(schedule, 0, halfway, reports)
    state = schedule.state()
    check_plain(state)
    saved = freeze(state)
    _follow(schedule, halfway, num_updates, reports)
    assert freeze(state) == saved, "the state changed after it was given away; return clones"
    for name, restored in (("the same instance", schedule), ("a new instance", make())):
        restored.restore(state)
        assert freeze(restored.state()) == saved, f"{name} told another state after it was restored"
        went = _follow(restored, halfway, num_updates, reports)
        assert went == straight[halfway:], f"{name} decided otherwise after it was restored"


def _check_decisions(schedule: Schedule, knobs: Sequence[KnobSpec], decided: Sequence[dict[str, float]]) -> None:
    specs = {knob.name: knob for knob in knobs}
    assert schedule.owns == frozenset(specs), f"it owns {sorted(schedule.owns)}, but was said to own {sorted(specs)}"
    for update, values in enumerate(decided):
        assert set(values) == set(specs), f"update {update}: it decided {sorted(values)}, but owns {sorted(specs)}"
        for name, value in values.items():
            spec = specs[name]
            assert math.isfinite(value), f"update {update}: '{name}' is {value}"
            assert spec.low <= value <= spec.high, f"update {update}: '{name}' is {value}, out of its range"


def _follow(
    schedule: Schedule, first: int, last: int, reports: Sequence[UpdateReport | EvaluationReport]
) -> list[dict[str, float]]:
    """What it decides for each update, asked twice."""
    decided = []
    for update in range(first, last):
        clock = Clock(updates=update, decisions=update * 100, frames=update * 100, episodes=update)
        before = freeze(schedule.state())
        values = dict(schedule.decide(clock))
        assert dict(schedule.decide(clock)) == values, f"update {update}: asked twice, it gave two answers"
        assert freeze(schedule.state()) == before, f"update {update}: deciding changed its state"
        decided.append(values)
        plain = UpdateReport(update + 1, (update + 1) * 100, (update + 1) * 100, update + 1, {"return/mean": 1.0})
        schedule.observe(reports[update % len(reports)] if reports else plain)
    return decided
