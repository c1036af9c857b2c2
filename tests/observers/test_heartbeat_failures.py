"""What a heart does where something fails: it tells of it, and goes on watching."""

from itertools import pairwise

import pytest
from heart_by_hand import Watched, report, watch

from respawn.observers import heartbeat as module
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def test_stacks_that_cannot_be_kept_stop_no_alarm(folder, monkeypatch):
    watched = watch(folder, monkeypatch, stall_seconds=0)  # and so nothing is armed that needs the folder
    folder.traces.write_text("a file")
    watched.heart.close()
    monkeypatch.setattr(module.LastResort, "arm", lambda self, seconds: None)
    watched = watch(folder, monkeypatch, step_seconds=0)
    watched.phases.mark("learn")
    watched.pass_seconds(302.0)
    assert "; the stacks of all threads could not be kept (" in watched.told[0].message
    assert watched.ended == [watched.told[0].message]
    watched.heart.close()


def test_a_folder_for_traces_that_cannot_be_used_keeps_no_run_from_beginning(folder, monkeypatch):
    folder.traces.write_text("a file")
    watched = watch(folder, monkeypatch)
    assert len(watched.beats()) == 1
    watched.phases.mark("world")
    watched.pass_seconds(60.0)
    watched.heart.receive(report(1))
    assert [type(error) for error in watched.failed] == [FileExistsError]
    watched.pass_seconds(300.0)
    assert "stalled" in watched.kinds() and len(watched.beats()) > 10
    watched.heart.close()


def full_from_now_on(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """No beat can be written any more, but for the first half of one."""

    def half(self: JsonlStream, line: memoryview) -> None:
        with watched.folder.heartbeats.open("ab") as file:
            file.write(line[: len(line) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(JsonlStream, "_write", half)


def test_a_beat_that_cannot_be_written_stops_no_alarm(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.phases.mark("checkpoint")
    full_from_now_on(watched, monkeypatch)
    watched.pass_seconds(302.0)
    assert watched.kinds() == ["stalled"] and watched.ended == [watched.told[0].message]
    assert [path.name.partition("-")[0] for path in folder.traces.iterdir() if path.stat().st_size] == ["stalled"]
    watched.phases.mark("learn")
    watched.pass_seconds(1.0)
    assert watched.kinds() == ["stalled", "moving_again"]
    with pytest.raises(OSError, match="No space"):  # nobody was there to be told
        watched.heart.close()


def test_beats_that_could_not_be_written_are_told_of_once_and_come_again_when_they_can(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    with monkeypatch.context() as meanwhile:
        full_from_now_on(watched, meanwhile)
        watched.pass_seconds(90.0)
        for update in (1, 2):
            watched.heart.receive(report(update))
            watched.pass_seconds(30.0)
        assert watched.heart.state() == {"update": 2, "decisions": 200}
    assert [str(error) for error in watched.failed] == ["[Errno 28] No space left on device"]
    assert len(watched.shown) == 5  # all of them
    watched.phases.mark("learn")
    watched.pass_seconds(30.0)
    watched.heart.close()
    assert [beat.update for beat in watched.beats()] == [0, 2, 2]


def test_what_ended_the_beating_is_raised_where_it_is_somebodys(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.ticker.error = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space"):
        watched.heart.receive(report(1))
    watched.ticker.error = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space"):
        watched.heart.close()
    assert len(watched.beats()) == 2  # though the last beat could be written


@pytest.mark.parametrize(("stall_seconds", "every", "armed_for"), [(300.0, 30, 481.0), (4.0, 1, 8.0)])
def test_the_last_resort_is_armed_again_long_before_it_is_due(folder, monkeypatch, stall_seconds, every, armed_for):
    armed = []
    monkeypatch.setattr(
        module.LastResort, "arm", lambda self, seconds: armed.append((module.time.monotonic(), seconds))
    )
    watched = watch(folder, monkeypatch, stall_seconds=stall_seconds)
    assert len(armed) == 1  # before the first look, which native code may never let happen
    watched.pass_seconds(100.0)
    watched.heart.close()
    assert {seconds for _, seconds in armed} == {armed_for}
    gaps = {later - earlier for (earlier, _), (later, _) in pairwise(armed)}
    assert gaps == {every}


def test_stacks_that_were_dumped_while_it_could_not_look_are_told_of(folder, monkeypatch):
    watched = watch(folder, monkeypatch)
    watched.pass_seconds(1.0)
    (hung,) = folder.traces.glob("hung-*.txt")
    with hung.open("a") as file:  # as the timer does, which needs no thread of Python
        file.write("Timeout (0:08:01)!")
    watched.pass_seconds(10.0)
    (event,) = watched.told
    assert event.kind == "hung" and event.level == "error" and event.facts == {"trace": str(hung)}
    watched.heart.close()
    assert hung.exists()
