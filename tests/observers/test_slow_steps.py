from pathlib import Path

import pytest

from respawn.contracts.records import Event
from respawn.observers.slow_steps import SlowStepLimits, SlowSteps
from respawn.observers.thread_phases import Doing


class Watch:
    """Slow steps that are looked for at moments of one's choosing."""

    def __init__(self, traces: Path, step_seconds: float = 15.0, trace_count: int = 3) -> None:
        self.now = 0.0
        self.told: list[Event] = []
        limits = SlowStepLimits(step_seconds, trace_count, window_seconds=120.0)
        self.steps = SlowSteps(limits, traces, self.told.append, lambda: self.now)

    def look(self, now: float, *doing: tuple[str, str, float]) -> None:
        """At `now`, threads are in phases that began then and then."""
        self.now = now
        self.steps.look([Doing(thread, phase, now - began, began) for thread, phase, began in doing])

    def kinds(self) -> list[str]:
        return [event.kind for event in self.told]


@pytest.fixture
def traces(tmp_path):
    return tmp_path / "traces"


def test_a_step_is_slow_once_it_takes_longer_than_it_may_and_is_told_once(traces):
    watch = Watch(traces)
    for moment in (1.0, 15.0, 15.1, 16.0, 40.0):
        watch.look(moment, ("main", "world", 0.0))
    (event,) = watch.told
    assert event.kind == "slow_step" and event.level == "warning"
    assert event.message == (
        "main has been in 'world' for more than 15 s, which is one step; "
        "if that comes again and again, a trace says where"
    )
    assert event.facts == {"thread": "main", "phase": "world", "limit_seconds": 15.0}
    assert not traces.exists()


@pytest.mark.parametrize(("phase", "is_step"), [("act", True), ("evaluate", True), ("learn", False), ("film", False)])
def test_only_what_is_one_step_can_be_a_slow_one(traces, phase, is_step):
    watch = Watch(traces)
    watch.look(100.0, ("main", phase, 0.0))
    assert bool(watch.told) == is_step


def test_without_a_limit_nothing_is_slow(traces):
    watch = Watch(traces, step_seconds=0.0)
    watch.look(10_000.0, ("main", "world", 0.0))
    assert watch.told == [] and watch.steps.look_seconds == float("inf")


def test_it_is_looked_for_often_enough_to_be_seen(traces):
    assert Watch(traces, step_seconds=3.0).steps.look_seconds == 1.5


def test_told_at_most_once_in_half_a_limit(traces):
    watch = Watch(traces, trace_count=100)
    for moment in range(16, 66):  # in each second another step that began 15.5 s ago
        watch.look(float(moment), ("main", "world", moment - 15.5))
    assert len(watch.told) == 7  # at 16, 24, 32, 40, 48, 56, 64: every 7.5 s at most


def test_many_within_the_window_leave_a_trace_and_counting_begins_anew(traces):
    watch = Watch(traces)
    for began in (0.0, 20.0, 40.0, 60.0, 80.0, 100.0):
        watch.look(began + 16, ("main", "world", began))
    assert watch.kinds() == ["slow_step", "slow_step", "slow_steps", "slow_step", "slow_step", "slow_steps"]
    assert len(list(traces.iterdir())) == 2
    event = watch.told[2]
    what = "3 steps within 120 s took more than 15 s"
    assert event.message.startswith(f"{what}; the stacks of all threads are in traces/slow-steps-")
    text = Path(str(event.facts["trace"])).read_text()
    assert text.startswith(f"{what}\nmain: world for 16.0 s\n\n")
    assert "test_many_within_the_window_leave_a_trace_and_counting_begins_anew" in text  # this thread's own stack


def test_few_over_a_long_time_leave_none(traces):
    watch = Watch(traces)
    for number in range(10):
        watch.look(number * 61.0 + 16, ("main", "world", number * 61.0))
    assert set(watch.kinds()) == {"slow_step"} and not traces.exists()


def test_threads_of_the_same_name_are_told_apart_by_their_steps(traces):
    watch = Watch(traces)
    for moment in (20.0, 21.0, 22.0, 23.0, 24.0):
        watch.look(moment, ("scout", "evaluate", 0.0), ("scout", "evaluate", 1.0))
    assert watch.kinds() == ["slow_step"]  # two slow steps in all, not two at each look


def test_a_trace_that_cannot_be_kept_is_said_so_and_watching_goes_on(traces):
    traces.write_text("a file where the folder should be")
    watch = Watch(traces, trace_count=1)
    for began in (0.0, 20.0):
        watch.look(began + 16, ("main", "world", began))
    assert watch.kinds() == ["slow_steps", "slow_steps"]
    assert "; the stacks of all threads could not be kept (" in watch.told[0].message
    assert "trace" not in watch.told[0].facts
