"""Whether a run lives: by its lock, its status, its beats and its rows."""

import json
import os
import subprocess
import sys

import psutil
import pytest

from hand_made import CONFIG, NOW, HandMade
from respawn.contracts.records import Event
from respawn.evaluation.inspection.life import read_life
from respawn.evaluation.inspection.salvage import Salvage


@pytest.fixture
def made(tmp_path):
    return HandMade(tmp_path / "run")


def life_of(made, config=CONFIG, now=NOW):
    return read_life(made.folder, config, Salvage(), now)


def test_a_run_that_goes_on_and_beats_is_well(made):
    made.status("running").updates(3).beat(20.0, idle_seconds=1.0)
    with made.folder.lock():
        found = life_of(made)
    assert (found.status, found.is_alive, found.is_stalled, found.is_silent) == ("running", True, False, False)
    assert (found.pid, found.process_state) == (os.getpid(), psutil.Process().status())
    assert found.last_update == 3 and found.last_decisions == 768
    assert found.ages_seconds["row"] == 0.0 and found.ages_seconds["beat"] == 20.0


def test_without_a_lock_it_was_killed(made):
    made.status("running").updates(3).beat(3000.0, is_stalled=True)
    found = life_of(made)
    assert (found.status, found.is_alive, found.is_silent) == ("killed", False, False)
    assert not found.is_stalled and found.beat.is_stalled and found.process_state is None


def test_whoever_holds_it_is_named_by_the_lock(made):
    made.status("running")
    status = json.loads(made.folder.status.read_text())
    made.folder.status.write_text(json.dumps(status | {"pid": 4_000_000}))  # of the process before
    with made.folder.lock():
        assert life_of(made).pid == os.getpid()
        made.folder.lock_holder.unlink()
        found = life_of(made)
        assert found.pid == 4_000_000 and found.process_state is None  # there is no such process


def test_a_process_elsewhere_is_not_looked_for_here(made):
    made.status("running")
    with made.folder.lock():
        made.folder.lock_holder.write_text(json.dumps({"pid": os.getpid(), "host": "elsewhere"}))
        assert life_of(made).process_state is None


def test_beats_that_do_not_come_are_silence(made):
    made.status("running").updates(3, time__unix=NOW - 95.0).beat(89.0)
    with made.folder.lock():
        assert not life_of(made).is_silent
        assert life_of(made, now=NOW + 2.0).is_silent  # three were due
        quick = {**CONFIG, "observers": {"heartbeat_seconds": 1.0}}
        assert life_of(made, quick).is_silent and not life_of(made, quick, NOW - 30.0).is_silent  # a minute is nothing


def test_a_clock_that_was_set_forward_makes_no_silence(made):
    """The last beat is of before, and what comes now is of after."""
    made.status("running").updates(3).beat(7200.0)
    with made.folder.lock():
        assert not life_of(made).is_silent
        assert life_of(made, now=NOW + 200.0).is_silent
        made.event(Event("clock_jumped", "the system's clock jumped by +7200 s", "warning"), -150.0)
        assert not life_of(made, now=NOW + 200.0).is_silent


def test_where_there_are_no_beats_rows_speak_for_it(made):
    made.status("running").updates(3, **{"time/update_seconds": 30.0})
    with made.folder.lock():
        assert not life_of(made, now=NOW + 590.0).is_silent
        assert life_of(made, now=NOW + 610.0).is_silent  # twenty updates


def test_a_beat_that_says_that_nothing_moves(made):
    made.status("running").beat(1.0, is_stalled=True, idle_seconds=500.0)
    with made.folder.lock():
        assert life_of(made).is_stalled


def test_a_beat_of_another_version_says_nothing(made):
    made.folder.heartbeats.write_text('{"row": "beat", "pulse": 60}\n')
    assert life_of(made).beat is None


def test_how_it_ended_is_told_in_one_line(made):
    made.status("failed", cause="ValueError: the pole\nbroke").event(Event("failed", "m", "error"), 7.0)
    made.folder.failure.write_text("Traceback\n  File\nValueError: the pole\n\n")
    found = life_of(made)
    assert (found.cause, found.failure_line) == ("ValueError: the pole broke", "ValueError: the pole")
    assert found.ages_seconds["event"] == 7.0 and found.ages_seconds["evaluation"] is None
    assert not found.goal_reached
    assert life_of(made.status("finished", goal_reached=True)).goal_reached


def test_a_status_that_cannot_be_read_is_not_taken_for_a_kill(made):
    made.folder.status.write_text("")
    salvage = Salvage()
    assert read_life(made.folder, CONFIG, salvage, NOW).status == "broken" and len(salvage.problems) == 1
    with made.folder.lock():
        found = life_of(made)
        assert (found.status, found.pid) == ("running", os.getpid())


@pytest.mark.skipif(sys.platform == "win32", reason="there processes are not stopped by a signal")
def test_children_that_somebody_stopped_are_named(made):
    made.status("running")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        process = psutil.Process(child.pid)
        process.suspend()
        os.waitpid(child.pid, os.WUNTRACED)  # until it stands
        with made.folder.lock():
            assert life_of(made).suspended_children == (child.pid,)
            process.resume()
    finally:
        child.kill()
        child.communicate()
