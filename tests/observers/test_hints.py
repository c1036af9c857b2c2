from collections.abc import Callable

import pytest
from hint_streams import FACTS, Stream, healthy_metrics, hints_of, names_of

from respawn.contracts.records import EvaluationReport, Event, Ruling, UpdateReport
from respawn.errors import ConfigError
from respawn.observers.hints import CHECK_EVERY_UPDATES, COOLDOWN_SECONDS, HINT, Hints

STILL = {"metrics": {"world/forward_share": 0.0}}
"""What no-progress speaks of, from update 10 on."""


def hearing(**named) -> tuple[Hints, list[Event]]:
    told: list[Event] = []
    return Hints(FACTS, told.append, **named), told


def feed(hints: Hints, first: int, last: int, **metrics: float) -> None:
    for update in range(first, last + 1):
        changed = {**healthy_metrics(update), "world/forward_share": 0.0, **metrics}
        hints.receive(UpdateReport(update, update * 4096, 0, 10 * update, changed))


def slow_clock() -> Callable[[], float]:
    """Ten seconds and more pass with every update."""
    return iter(range(0, 10**6, 10)).__next__


def updates_of(told: list[Event]) -> list[int]:
    return [int(event.facts["update"]) for event in told]


def test_a_hint_is_an_event_with_a_name_a_sentence_and_its_grounds():
    hints, told = hearing()
    feed(hints, 1, 10)
    (event,) = told
    assert event.kind == HINT and event.level == "warning"
    assert event.facts == {"rule": "no-progress", "update": 10, "updates": 10, "highest_share": 0.0}
    assert event.message.startswith("nothing has moved forward for 10 updates (at most 0.0% of decisions): watch it")


def test_a_healthy_run_hears_none():
    assert hints_of(Stream(updates=400)) == []


def test_it_is_not_given_again_before_its_time():
    hints, told = hearing(cooldown_updates=200, now=slow_clock())
    feed(hints, 1, 500)
    assert updates_of(told) == [10, 210, 410]


def test_a_fast_run_does_not_repeat_itself_within_ten_minutes():
    seconds = [0.0]
    hints, told = hearing(cooldown_updates=20, now=lambda: seconds[0])
    feed(hints, 1, 400)
    seconds[0] += COOLDOWN_SECONDS - 1
    feed(hints, 401, 420)
    assert updates_of(told) == [10]
    seconds[0] += 1
    feed(hints, 421, 440)
    assert updates_of(told) == [10, 430]
    resumed, told_again = hearing(cooldown_updates=20, now=lambda: seconds[0])
    resumed.restore(hints.state())
    feed(resumed, 441, 460)
    assert updates_of(told_again) == [450]  # no clock outlives a process


def test_each_hint_cools_down_by_itself():
    told = hints_of(Stream(updates=300, metrics={"world/forward_share": 0.0, "policy/kl": 50.0, "loss/value": 0.1}))
    assert len(names_of(told)) == len(set(names_of(told))) >= 1  # none twice within the long cool-down of `hints_of`
    assert "no-progress" in names_of(told)


def test_without_a_cool_down_it_comes_with_every_look_and_once_only():
    hints, told = hearing(cooldown_updates=0)
    feed(hints, 1, 50)
    hints.receive(EvaluationReport(50, 0, {"evaluation/return_mean": 30.0}))  # looks again, at the same update
    assert updates_of(told) == [10, 20, 30, 40, 50]


def test_long_updates_are_looked_at_every_minute():
    seconds = [0.0]
    hints, told = hearing(cooldown_updates=0, now=lambda: seconds[0])
    feed(hints, 1, 12)
    assert updates_of(told) == [10]
    for update in range(13, 17):
        seconds[0] += 45.0
        feed(hints, update, update)
    assert updates_of(told) == [10, 14, 16]


def test_an_evaluation_is_looked_at_when_it_comes():
    hints, told = hearing()
    feed(hints, 1, CHECK_EVERY_UPDATES + 5, **{"world/forward_share": 0.9})
    assert told == []
    feed(hints, 16, 19)  # nine rows are not enough yet, and nobody looks at update 19
    hints.receive(EvaluationReport(19, 0, {"evaluation/return_mean": 3.0}))
    assert told == []
    fast, told = hearing()
    feed(fast, 5, 14)
    told.clear()  # update 10 came with six rows
    fast.receive(EvaluationReport(14, 0, {"evaluation/return_mean": 3.0}))
    assert updates_of(told) == [14]


def test_hints_that_are_off_are_not_given():
    hints, told = hearing(off=("no-progress",))
    feed(hints, 1, 60)
    assert told == []


def test_what_is_no_hint_cannot_be_turned_off():
    with pytest.raises(ConfigError, match=r"hints-off takes names of hints .* not 'no-progres'"):
        hearing(off=("no-progres",))


def test_a_run_that_is_taken_up_remembers_what_it_said_and_saw():
    straight, told = hearing(cooldown_updates=200, now=slow_clock())
    feed(straight, 1, 214)
    assert updates_of(told) == [10, 210]
    for stopped_at in (5, 10, 209, 210):
        first, before = hearing(cooldown_updates=200, now=slow_clock())
        feed(first, 1, stopped_at)
        second, after = hearing(cooldown_updates=200, now=slow_clock())
        second.restore(first.state())
        feed(second, stopped_at + 1, 214)
        assert before + after == told, f"stopped at update {stopped_at}"


def test_going_back_to_a_checkpoint_forgets_what_was_said_since():
    hints, told = hearing(cooldown_updates=200)
    feed(hints, 1, 5)
    state = hints.state()
    feed(hints, 6, 20)
    hints.restore(state)
    feed(hints, 6, 20)
    assert updates_of(told) == [10, 10]


def test_its_own_hints_and_what_it_does_not_know_change_nothing():
    hints, told = hearing()
    before = hints.state()
    hints.receive(Event(HINT, "nothing has moved", "warning", {"rule": "no-progress", "update": 3}))
    hints.receive(Event("resumed", "resumed"))
    hints.receive(Ruling(3, "gate", {}))
    hints.close()
    assert hints.state() == before and told == []


def test_processes_that_were_replaced_are_counted_by_the_update_in_which_they_were():
    hints, _ = hearing()
    feed(hints, 1, 3)
    hints.receive(Event("worker_replaced", "worker 1 was lost", "warning", {"log": "workers/1.log"}))
    hints.receive(Event("actor_replaced", "actor 0 was lost", "warning"))
    assert hints.state()["view"]["replacements"] == [[3, "workers/1.log"], [3, "events.jsonl"]]
