import io
import threading
import time

import psutil
import pytest

from respawn.contracts.records import Beat, Episode, EpisodeReport, EvaluationReport, Event, UpdateReport
from respawn.observers import build
from respawn.observers.build import ConsoleFacts, Watched, build_observers
from respawn.observers.config import ObserversConfig
from respawn.observers.heartbeat import Heartbeat
from respawn.observers.jsonl import JsonlStream
from respawn.observers.stack_dumps import LastResort
from respawn.observers.thread_phases import ThreadPhases
from respawn.runs.layout import create
from respawn.runs.reader import (
    read_beats,
    read_episodes,
    read_evaluations,
    read_events,
    read_resources,
    read_updates,
)
from respawn.runs.rotation import archive_numbers

UPDATE = UpdateReport(1, 10, 10, 1, {"loss/policy": 0.5})
EPISODE = EpisodeReport(1, Episode(0, 1.0, 2, "terminated"))
EVALUATION = EvaluationReport(1, 10, {"evaluation/return_mean": 4.0})
EVENT = Event("k", "m")


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "one", {}, {})


def test_every_record_ends_up_in_its_stream(folder):
    told = io.StringIO()
    hub = build_observers(folder, ObserversConfig(), ConsoleFacts(10, None, stream=told))
    for record in (UPDATE, EPISODE, EVALUATION, EVENT):
        hub.receive(record)
    hub.close()
    assert list(read_updates(folder)) == [UPDATE]
    assert list(read_episodes(folder)) == [EPISODE]
    assert list(read_evaluations(folder)) == [EVALUATION]
    assert [timed.event for timed in read_events(folder)] == [EVENT]
    assert list(folder.tensorboard.iterdir())
    assert "update 1/10" in told.getvalue()
    assert hub.failures == ()


def test_what_is_not_wanted_is_not_built(folder, capsys):
    hub = build_observers(
        folder, ObserversConfig(console=False, tensorboard=False, latest_seconds=0), ConsoleFacts(10, None)
    )
    hub.receive(UPDATE)
    assert set(hub.state()) == {"events", "episodes", "updates", "evaluations", "probes", "rulings"}
    hub.close()
    assert capsys.readouterr().out == "" and not folder.tensorboard.exists()


def test_resuming_makes_the_files_of_a_run_never_interrupted(folder):
    def watch(first: int, last: int, state=None, save_at=None):
        facts = ConsoleFacts(10, None, first_update=first, stream=io.StringIO())
        hub = build_observers(folder, ObserversConfig(), facts)
        if state is not None:
            hub.restore(state)
        for update in range(first + 1, last + 1):
            hub.receive(UpdateReport(update, update, update, update, {"loss/policy": update / 3}))
            hub.receive(EpisodeReport(update, Episode(0, float(update), 2, "terminated")))
            hub.receive(EvaluationReport(update, update, {"evaluation/return_mean": update / 3}))
            if update == save_at:
                state = hub.state()
        hub.close()
        return state

    watch(5, 10, watch(0, 8, save_at=5))
    assert [row.update for row in read_updates(folder)] == list(range(1, 11))
    assert [row.update for row in read_episodes(folder)] == list(range(1, 11))
    assert [row.update for row in read_evaluations(folder)] == list(range(1, 11))


QUIET = {"console": False, "tensorboard": False, "latest_seconds": 0}


def wait_for(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_where_the_process_is_watched_it_has_a_heart_and_resources(folder):
    phases = ThreadPhases()
    phases.mark("learn")
    config = ObserversConfig(**QUIET, heartbeat_seconds=0.02, resource_seconds=0.02)
    hub = build_observers(folder, config, ConsoleFacts(10, None), Watched(phases, "cpu"))
    hub.receive(UPDATE)
    wait_for(lambda: len([row for _, row in read_resources(folder) if row.update == 1]) > 1)
    wait_for(lambda: len([beat for _, beat in read_beats(folder) if beat.update == 1]) > 1)
    assert {"heartbeat", "resources", "resource_stream"} <= set(hub.state())
    hub.close()
    assert hub.failures == () and "learn" in dict(next(read_beats(folder))[1].phases).values()
    count = len(list(read_beats(folder)))
    time.sleep(0.05)
    assert len(list(read_beats(folder))) == count


def test_until_there_is_an_update_rows_are_where_the_run_is_taken_up(folder):
    config = ObserversConfig(**QUIET, heartbeat_seconds=0.02, resource_seconds=0.02)
    watched = Watched(ThreadPhases(), "cpu", begins_at=(7, 70))
    hub = build_observers(folder, config, ConsoleFacts(10, None), watched)
    wait_for(lambda: len(list(read_resources(folder))) > 1)
    hub.receive(UpdateReport(8, 80, 80, 1, {"loss/policy": 0.5}))
    wait_for(lambda: any(row.update == 8 for _, row in read_resources(folder)))
    hub.close()
    for rows in (read_beats(folder), read_resources(folder)):
        assert {(row.update, row.decisions) for _, row in rows} == {(7, 70), (8, 80)}


def test_each_watcher_has_a_switch(folder):
    config = ObserversConfig(**QUIET, heartbeat_seconds=0, resource_seconds=0)
    hub = build_observers(folder, config, ConsoleFacts(10, None), Watched(ThreadPhases(), "cpu"))
    assert not {"heartbeat", "resources", "resource_stream"} & set(hub.state())
    hub.close()
    assert not folder.heartbeats.exists() and not folder.resources.exists()


def test_a_run_that_stands_still_is_told_of_in_its_events(folder, monkeypatch):
    monkeypatch.setattr(LastResort, "arm", lambda self, seconds: None)  # on a machine that is busy it could fire
    ended = []
    config = ObserversConfig(**QUIET, heartbeat_seconds=0.02, stall_seconds=0.1, resource_seconds=0)
    watched = Watched(ThreadPhases(), "cpu", on_stall=ended.append)
    hub = build_observers(folder, config, ConsoleFacts(10, None), watched)
    wait_for(lambda: ended)
    hub.close()
    (event,) = [timed.event for timed in read_events(folder)]
    assert event.kind == "stalled" and ended == [event.message]


def test_a_heart_whose_beats_cannot_be_written_goes_on_watching(folder, monkeypatch):
    monkeypatch.setattr(LastResort, "arm", lambda self, seconds: None)  # on a machine that is busy it could fire
    ended = []
    config = ObserversConfig(**QUIET, heartbeat_seconds=0.02, stall_seconds=1.0, resource_seconds=0)
    watched = Watched(ThreadPhases(), "cpu", on_stall=ended.append)
    hub = build_observers(folder, config, ConsoleFacts(10, None), watched)
    receive = JsonlStream.receive

    def full_for_beats(stream, record):
        if isinstance(record, Beat) and stream._record_type is Beat:
            raise OSError(28, "No space left on device")
        receive(stream, record)

    monkeypatch.setattr(JsonlStream, "receive", full_for_beats)
    wait_for(lambda: ended)
    wait_for(lambda: hub.failures)
    hub.close()
    assert [(failure.observer, failure.doing) for failure in hub.failures] == [("heartbeat", "write")]
    assert {timed.event.kind for timed in read_events(folder)} == {"observer_failed", "stalled"}


@pytest.mark.parametrize(("asked", "patience", "limit"), [(300, 0, 300), (300, 630, 630), (900, 630, 900), (0, 630, 0)])
def test_no_alarm_where_somebody_else_still_sees_to_it(folder, monkeypatch, asked, patience, limit):
    limits = []

    class Recorded(Heartbeat):
        def __init__(self, *arguments, **named):
            limits.append(arguments[5])
            super().__init__(*arguments, **named)

    monkeypatch.setattr(build, "Heartbeat", Recorded)
    config = ObserversConfig(**QUIET, stall_seconds=asked, resource_seconds=0)
    watched = Watched(ThreadPhases(), "cpu", patience_seconds=patience)
    build_observers(folder, config, ConsoleFacts(10, None), watched).close()
    assert [each.stall_seconds for each in limits] == [limit]


def test_streams_become_no_larger_than_they_may_and_keep_so_many_archives(folder):
    config = ObserversConfig(**QUIET, rotate_mib=0.001, retain_archives=2)
    hub = build_observers(folder, config, ConsoleFacts(10, None))
    for number in range(100):
        hub.receive(Event("k", f"event {number}"))
    hub.close()
    assert len(archive_numbers(folder.events)) == 2 and folder.events.stat().st_size <= 1049
    told = [timed.event.message for timed in read_events(folder)]
    assert told == [f"event {number}" for number in range(100 - len(told), 100)]


def test_where_one_cannot_be_built_those_that_were_are_closed_again(folder, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("no such luck")

    process, config = psutil.Process(), ObserversConfig(**QUIET)
    before = process.num_fds()
    monkeypatch.setattr(build, "Heartbeat", fail)
    with pytest.raises(OSError, match="no such luck"):
        build_observers(folder, config, ConsoleFacts(10, None), Watched(ThreadPhases(), "cpu"))
    assert process.num_fds() == before
    assert not [thread for thread in threading.enumerate() if thread.name in ("resources", "heartbeat")]
