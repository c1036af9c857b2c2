import threading
import time
from pathlib import Path

import psutil
import pytest
from heart_by_hand import report, stream, watch

from respawn.contracts.records import Record
from respawn.observers import heartbeat as module
from respawn.observers.heartbeat import Alarms, Heartbeat, HeartbeatLimits
from respawn.observers.slow_steps import SlowStepLimits, SlowSteps
from respawn.observers.thread_phases import ThreadPhases
from respawn.observers.told_beside import told_beside
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_beats


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def test_beats_at_the_beginning_at_even_intervals_and_at_the_end(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("learn")
    watched.pass_seconds(65.0)
    assert len(watched.beats()) == 3
    watched.heart.close()
    watched.heart.close()
    beats = watched.beats()
    assert len(beats) == 4 and watched.ticker.closed
    assert beats[0].phases == {} and beats[-1].phases == {threading.current_thread().name: "learn"}
    assert not any(beat.is_stalled for beat in beats)
    assert beats[-1].metrics["heartbeat/idle_seconds"] == pytest.approx(65.0)


def test_a_beat_tells_how_the_process_is(folder, monkeypatch):
    watched = watch(folder, monkeypatch, stall_seconds=0)  # else a file for the last resort is opened meanwhile
    (beat,) = watched.beats()
    assert set(beat.metrics) == {
        "heartbeat/cpu_percent", "heartbeat/decisions_per_second", "heartbeat/idle_seconds", "heartbeat/open_files",
        "heartbeat/rollout_share", "heartbeat/rss_mib", "heartbeat/threads", "heartbeat/updates_per_second",
    }  # fmt: skip
    resident = psutil.Process().memory_info().rss / 2**20
    assert beat.metrics["heartbeat/rss_mib"] == pytest.approx(resident, rel=0.2)
    assert beat.metrics["heartbeat/threads"] >= threading.active_count()
    with folder.heartbeats.open():  # one more than before
        watched.pass_seconds(30.0)
    first, second = (each.metrics["heartbeat/open_files"] for each in watched.beats())
    assert second == first + 1
    watched.heart.close()


def test_rates_are_taken_over_the_last_beats(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.heart.receive(report(1))
    for update in range(2, 302):  # one in each second
        watched.pass_seconds(1.0)
        watched.heart.receive(report(update))
        watched.phases.mark("learn")
    watched.pass_seconds(30.0)  # and then none
    rates = [beat.metrics["heartbeat/updates_per_second"] for beat in watched.beats()]
    assert rates[0] == 0.0 and rates[5] == pytest.approx(1.0, rel=0.02)
    assert rates[-1] == pytest.approx(6 / 7, rel=0.02)  # seven intervals, of which six had updates
    last = watched.beats()[-1]
    assert last.metrics["heartbeat/decisions_per_second"] == pytest.approx(600 / 7, rel=0.02)
    assert (last.update, last.decisions) == (301, 30100)
    watched.heart.close()


@pytest.mark.parametrize("older_checkpoint", [False, True])
def test_a_run_that_is_taken_up_has_not_made_all_its_updates_just_now(folder, monkeypatch, older_checkpoint):
    watched = watch(folder, monkeypatch)
    watched.heart.receive(report(5000))
    state = watched.heart.state()
    watched.heart.close()
    before = len(watched.beats())
    again = watch(folder, monkeypatch)
    again.heart.restore({} if older_checkpoint else state)
    again.pass_seconds(30.0)
    again.heart.receive(report(5001))
    again.pass_seconds(30.0)
    again.heart.receive(report(5031))
    again.pass_seconds(30.0)
    _, waiting, first, second = again.beats()[before:]
    assert waiting.update == (0 if older_checkpoint else 5000)
    assert waiting.metrics["heartbeat/updates_per_second"] == 0.0
    assert first.metrics["heartbeat/updates_per_second"] <= 1 / 30
    assert 31 / 90 <= second.metrics["heartbeat/updates_per_second"] + 1e-9 <= 30 / 60 + 1e-6
    again.heart.close()


def test_while_a_run_is_taken_up_its_beats_are_where_it_will_begin(folder, monkeypatch):
    watched = watch(folder, monkeypatch, begins_at=(40, 4000))
    watched.pass_seconds(60.0)
    watched.heart.receive(report(41))
    watched.pass_seconds(30.0)
    watched.heart.receive(report(42))
    watched.pass_seconds(30.0)
    assert [(beat.update, beat.decisions) for beat in watched.beats()] == [
        *((40, 4000), (40, 4000), (40, 4000), (41, 4100), (42, 4200)),
    ]
    assert watched.beats()[3].metrics["heartbeat/updates_per_second"] == 0.0  # since it knows what to count from
    watched.heart.close()


def test_a_run_that_stands_still_is_told_of_once_with_all_stacks(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("wait")
    watched.pass_seconds(299.0)
    assert watched.told == [] and watched.ended == []
    watched.pass_seconds(300.0)
    (event,) = watched.told
    assert event.kind == "stalled" and event.level == "error"
    thread = threading.current_thread().name
    assert event.message.startswith(f"nothing has moved for 301 s: {thread} is in 'wait'; the stacks of all threads")
    assert event.facts["idle_seconds"] == pytest.approx(301.0) and event.facts[thread] == "wait"
    assert "test_a_run_that_stands_still_is_told_of_once_with_all_stacks" in Path(str(event.facts["trace"])).read_text()
    assert watched.ended == [event.message]
    stalled = [beat.is_stalled for beat in watched.beats()]
    assert stalled.index(True) == 11 and all(stalled[11:])  # at once, not with the next beat
    watched.heart.close()


def test_a_run_that_moves_again_is_told_of_too_and_can_stand_still_again(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("world")
    watched.pass_seconds(400.0)
    watched.phases.mark("world")
    watched.pass_seconds(1.0)
    assert watched.kinds() == ["slow_step", "stalled", "moving_again"]
    assert watched.told[-1].message == "the run moves again after it stood still for 400 s"
    assert [beat.is_stalled for beat in watched.beats()][-2:] == [True, False]
    watched.pass_seconds(400.0)
    assert watched.kinds()[3:] == ["slow_step", "stalled"]
    watched.heart.close()


@pytest.mark.parametrize("moves", [True, False])
def test_a_run_that_ends_at_once_after_it_moved_again_is_told_of_too(folder, monkeypatch, moves):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("world")
    watched.pass_seconds(400.0)
    watched.clock.now += 0.5  # less than from one look to the next
    if moves:
        watched.phases.mark("learn")
    watched.heart.close()
    assert watched.kinds() == ["slow_step", "stalled"] + ["moving_again"] * moves
    assert [beat.is_stalled for beat in watched.beats()][-2:] == [True, not moves]


def test_a_process_that_was_stopped_and_goes_on_has_not_stood_still(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("learn")
    watched.pass_seconds(10.0)
    watched.clock.now += 3600.0
    watched.ticker.tick()
    watched.pass_seconds(200.0)
    assert watched.told == []
    watched.pass_seconds(200.0)  # but where it does not go on, it has
    assert watched.kinds() == ["stalled"]
    watched.heart.close()


def test_without_a_limit_nothing_stands_still(folder, monkeypatch):
    watched = watch(folder, monkeypatch, stall_seconds=0)
    watched.pass_seconds(5000.0)
    assert watched.told == [] and not folder.traces.exists()
    watched.heart.close()


@pytest.mark.parametrize("seconds", [-3600.0, 90.0])
def test_a_clock_that_was_set_is_told_of(folder, monkeypatch, seconds):
    watched = watch(folder, monkeypatch)
    watched.pass_seconds(5.0)
    watched.clock.wall_is_ahead += seconds
    watched.pass_seconds(5.0)
    (event,) = watched.told
    assert event.kind == "clock_jumped" and event.facts == {"seconds": pytest.approx(seconds)}
    assert event.message.startswith(f"the system's clock jumped by {seconds:+.0f} s")
    watched.heart.close()


def test_a_last_resort_that_fired_is_told_of(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.pass_seconds(2.0)
    (path,) = folder.traces.iterdir()
    with path.open("a") as file:
        file.write("Timeout! Thread 0x1 (most recent call first)")
    watched.pass_seconds(20.0)
    (event,) = watched.told
    assert (event.kind, event.level, event.facts) == ("hung", "error", {"trace": str(path)})
    assert event.message.endswith(f"the stacks of all threads are in traces/{path.name}")
    watched.heart.close()
    assert path.exists()


def test_slow_steps_are_looked_for(folder, monkeypatch):
    watched = watch(folder, monkeypatch, step_seconds=0.5)
    assert watched.ticker.seconds == 0.25
    watched.phases.mark("world")
    watched.pass_seconds(1.0)
    assert watched.kinds() == ["slow_step"]
    watched.heart.close()


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, 1.0),
        ({"beat_seconds": 0.4}, 0.4),
        ({"stall_seconds": 2.0}, 0.5),
        ({"step_seconds": 0.001}, 0.05),
        ({"stall_seconds": 0, "step_seconds": 0}, 1.0),
    ],
)
def test_it_looks_as_often_as_its_limits_need(folder, monkeypatch, limits, seconds):
    watched = watch(folder, monkeypatch, **limits)
    assert watched.ticker.seconds == seconds
    watched.heart.close()


def test_beats_and_alarms_come_while_the_hub_hangs(folder, monkeypatch):
    """With real threads and real time: the one who watches is held up by nobody."""
    monkeypatch.setattr(module.LastResort, "arm", lambda self, seconds: None)  # on a machine that is busy it could fire
    told, go_on = [], threading.Event()

    def hanging(record: Record) -> None:
        told.append(type(record).__name__)
        go_on.wait(30)

    phases = ThreadPhases()
    tell = told_beside(hanging, patience_seconds=0.01)
    slow = SlowSteps(SlowStepLimits(0.0, 5, 120.0), folder.traces, tell)
    limits = HeartbeatLimits(0.05, 0.2)
    heart = Heartbeat(stream(folder), phases, slow, folder.traces, tell, limits, Alarms(pytest.fail))
    phases.mark("loop")
    deadline = time.monotonic() + 30
    while len([1 for _, beat in read_beats(folder) if beat.is_stalled]) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    beats = [beat for _, beat in read_beats(folder)]
    go_on.set()
    heart.close()
    assert set(told) == {"Beat", "Event"} and told.count("Event") == 1 and sum(beat.is_stalled for beat in beats) >= 3
    assert [path.name.partition("-")[0] for path in folder.traces.iterdir()] == ["stalled"]


def test_beats_say_how_much_of_a_rollout_is_gathered_and_are_shown_until_it_stands_still(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("world", 0.25)
    watched.pass_seconds(30.0)
    watched.phases.mark("learn")
    watched.pass_seconds(600.0)
    shares = [beat.metrics["heartbeat/rollout_share"] for beat in watched.beats()]
    assert shares[:3] == [0.0, 0.25, 0.0]
    assert watched.shown == [beat for beat in watched.beats()[1:] if not beat.is_stalled]
    assert any(beat.is_stalled for beat in watched.beats())
    watched.heart.close()
