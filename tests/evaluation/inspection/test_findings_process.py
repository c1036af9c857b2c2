"""What is said of a run's process: one that hangs, died, failed, lost its workers, or uses up the machine."""

import os
from dataclasses import replace

import psutil
import pytest

from hand_made import NOW, HandMade, healthy
from inspecting import RESUME, about, found_in
from respawn.contracts.records import Event
from respawn.evaluation.inspection import life as life_module
from respawn.evaluation.inspection.findings_process import ended, standing_still
from respawn.evaluation.inspection.inspect import inspect

PID = os.getpid()


@pytest.fixture
def made(tmp_path):
    return healthy(tmp_path / "run")


def trace(made, name, seconds=1000):
    made.folder.traces.mkdir(exist_ok=True)
    path = made.folder.traces / name
    path.write_text("stacks")
    os.utime(path, (seconds, seconds))
    return path


def test_a_suspended_process_is_to_be_woken(made, monkeypatch):
    made.status("running")
    monkeypatch.setattr(life_module, "_state_of", lambda process: psutil.STATUS_STOPPED)
    with made.folder.lock():
        finding = about(made, "is suspended")
    assert finding.severity == "bad" and finding.action == f"wake it: kill -CONT {PID}"
    assert finding.sentence == f"process {PID} is suspended (MainThread in 'learn' when its heart last beat)"


def test_suspended_workers_are_to_be_woken(made):
    seen = inspect(made.folder, NOW)
    life = replace(seen.life, is_alive=True, suspended_children=(11, 12))
    (finding,) = standing_still(replace(seen, life=life), RESUME)
    assert finding.sentence == "workers or actors of the run are suspended: 11, 12"
    assert finding.action == "wake them: kill -CONT 11 12"


def test_where_nothing_moves_the_trace_is_to_be_read(made):
    made.status("running").beat(1.0, is_stalled=True, idle_seconds=600.0)
    made.event(Event("stalled", "nothing has moved for 300 s", "error", {"trace": "traces/x.txt"}))
    with made.folder.lock():
        assert f"see where: py-spy dump --pid {PID}" in about(made, "nothing has moved for 10 min").action
        path = trace(made, "stalled-1.txt")
        (finding, *others) = found_in(made)
    assert finding.sentence == "nothing has moved for 10 min (MainThread in 'learn')"
    assert (
        finding.action
        == f"read {path}; then stop it (kill {PID}; where that does nothing, kill -9 {PID}) and: {RESUME}"
    )
    assert not [each for each in others if "stalled" in each.sentence]  # said already


def test_a_silent_process_is_told_by_its_last_sign(tmp_path):
    made = HandMade(tmp_path / "run").status("running").updates(3, time__unix=NOW - 4100.0).beat(4000.0)
    made.checkpoint(3)
    with made.folder.lock():
        assert about(made, "its last beat came 67 min ago").severity == "bad"


def test_a_failure_that_only_the_events_could_be_told_of(tmp_path):
    """On a folder that may not be written to any more, with a stream that was open before."""
    made = HandMade(tmp_path / "run").status("running").updates(30)
    made.checkpoint(20)
    made.event(Event("resumed", "resumed from u00000010", facts={"update": 10}), 500.0)
    made.event(Event("failed", "failed at update 30: CheckpointWriteError: Read-only file system", "error"))
    finding = about(made, "it failed at update 30: CheckpointWriteError: Read-only file system; that could not be")
    assert finding.severity == "bad" and finding.action.endswith(f"then: {RESUME}")
    assert not [each for each in found_in(made) if "resumed since" in each.action or "gone" in each.sentence]
    made.event(Event("resumed", "resumed from u00000020", facts={"update": 20}), 1.0)  # and killed after that
    assert about(made, "the process is gone").severity == "bad"
    assert "before it was last resumed" in about(made, "failed, once").sentence


def test_a_failure_names_its_cause_and_the_way_on(made):
    made.status("failed", cause="ValueError: the pole broke").event(Event("failed", "failed", "error"))
    made.folder.failure.write_text("Traceback")
    finding = about(made, "failed")  # once, and not again as an event
    assert finding.sentence == "the run failed: ValueError: the pole broke"
    assert finding.action == f"read {made.folder.failure}, mend what caused it; then: {RESUME}"


def test_a_run_that_ended_itself_because_it_hung_names_its_trace(made):
    trace(made, "stalled-1.txt", 500)
    path = trace(made, "stalled-2.txt", 1000)
    trace(made, "slow-steps-1.txt", 2000)
    cause = f"nothing has moved for 6 s: MainThread is in 'world'; the stacks of all threads are in traces/{path.name}"
    made.status("failed", cause=cause).event(Event("stalled", cause, "error", {"trace": str(path)}))
    made.folder.failure.write_text(cause)  # which says no more
    assert (
        about(made, "the run failed: nothing has moved").action == f"read {path}, mend what caused it; then: {RESUME}"
    )
    path.unlink()
    assert f"read {made.folder.failure}, mend" in about(made, "the run failed: nothing has moved").action


@pytest.mark.parametrize(
    ("newest", "said"),
    [(30, ""), (29, ", and 1 update after the newest checkpoint will be made again"), (20, ", and 10 updates after")],
)
def test_a_kill_says_what_will_be_made_again(tmp_path, newest, said):
    made = HandMade(tmp_path / "run").status("running").updates(30).beat(0.0)
    made.checkpoint(newest)
    finding = about(made, "the process is gone without having ended the run")
    assert finding.severity == "bad" and finding.sentence.partition("the run")[2].startswith(said)
    assert finding.action == f"see who killed it (dmesg -T | grep -i 'killed process'); then: {RESUME}"


def test_a_kill_after_it_stood_still_says_where(made):
    made.status("running").beat(0.0, is_stalled=True)
    path = trace(made, "stalled-1.txt")
    made.event(Event("stalled", "nothing has moved", "error"))
    finding = about(made, "the process is gone")
    assert finding.action == f"it had stood still: read {path}; then: {RESUME}"
    assert about(made, "stalled, once") is None


def test_a_kill_by_the_last_resort_says_where_it_hung(made):
    made.status("running")
    trace(made, "slow-steps-1.txt", 500)
    path = trace(made, "hung-1.txt", 1000)
    assert (
        about(made, "the process is gone").action
        == f"it hung in native code, or was suspended and woken: read {path}; then: {RESUME}"
    )
    trace(made, "slow-steps-2.txt", 2000)  # it went on after that
    assert "dmesg" in about(made, "the process is gone").action


def test_a_kill_on_a_full_disk_or_in_full_memory(made, disk):
    made.status("running")
    made.resources(20.0, system_memory_percent=50.0).resources(10.0, system_memory_percent=97.0)
    assert about(made, "the process is gone").action.startswith("the machine's memory was nearly full")
    disk.free_gib = 0.2
    assert about(made, "the process is gone").action == f"the disk is full: make room; then: {RESUME}"


def test_a_run_that_was_stopped_in_the_middle(made):
    made.status("stopped", cause="a second signal came").event(Event("stopped", "m", "warning"))
    finding = about(made, "stopped")
    assert finding.severity == "warning" and finding.action == f"go on: {RESUME}"
    assert about(made.status("stopped"), "the run was stopped") is None


def test_a_run_that_was_stopped_because_it_hung_hangs_again_unless_that_is_mended(made):
    made.beat(0.0, is_stalled=True).status("stopped", cause="a second signal came")
    made.event(Event("stalled", "nothing has moved", "error"))
    path = trace(made, "stalled-1.txt")
    finding = about(made, "the run was stopped")
    assert finding.action == f"it had stood still: read {path}, mend what hangs; then: {RESUME}"


def test_a_folder_that_may_not_be_written_to(made):
    seen = replace(inspect(made.folder, NOW), is_writable=False)
    assert list(ended(seen, RESUME)) == []  # it is finished
    *_, finding = ended(replace(seen, life=replace(seen.life, status="killed")), RESUME)
    assert "may not be written to" in finding.sentence and "mount" in finding.action


def resumed(made, *updates):
    for at, update in enumerate(updates):
        made.event(Event("resumed", "m", facts={} if update is None else {"update": update}), 100.0 - at)


def test_resumes_in_vain_are_counted(made):
    made.status("failed", cause="x")
    resumed(made, 20, 30, 30)
    assert about(made, "in a row") is None
    resumed(made, 30)
    finding = about(made, "it was resumed 3 times in a row from update 30 and never came to its next checkpoint")
    assert finding.severity == "bad" and "move checkpoint u00000030 away" in finding.action
    made.updates(1).checkpoint(31)  # it got further after all
    assert about(made, "in a row") is None


@pytest.mark.parametrize("kind", ["worker_replaced", "actor_replaced"])
def test_lost_workers_are_told_with_their_log(made, kind):
    who = kind.partition("_")[0]
    made.event(Event(kind, "0 died", "warning", {"log": "workers/w0.jsonl"}), 50.0)
    finding = about(made, "lost and replaced")
    assert finding.severity == "warning" and finding.action == "read workers/w0.jsonl"
    assert finding.sentence == f"1 {who} was lost and replaced; 0 died"
    made.event(Event(kind, "1 died", "warning"), 40.0)
    assert about(made, "lost").sentence == f"2 {who}s were lost and replaced; the last time: 1 died"
    resumed(made, 20)
    assert about(made, "lost").severity == "note"
    made.event(Event(kind, "2 died", "warning"), 40.0)  # of a clock that was set back
    assert about(made, "lost").severity == "warning"


@pytest.mark.parametrize(
    ("total", "free", "severity"),
    [(100.0, 6.0, None), (100.0, 4.0, "note"), (10_000.0, 20.0, None), (4.0, 2.0, None), (4.0, 0.5, "note")],
)
def test_a_disk_is_low_where_both_share_and_size_are(made, disk, total, free, severity):
    disk.total_gib, disk.free_gib = total, free
    finding = about(made, "the disk has")
    assert (finding and finding.severity) == severity
    if severity:
        made.status("running")
        assert about(made, "the disk has").severity == "warning"


def test_what_is_left_on_the_smallest_disk_is_a_number_that_says_something(made, disk):
    disk.total_gib, disk.free_gib = 3 / 1024, 1.25 / 1024
    assert about(made, "the disk has").sentence == "the disk has 1.2 MiB left (42%)"


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ({"process_rss_mib": 400.0}, {"process_rss_mib": 1200.0}, "memory grew from 400 to 1,200 MiB"),
        ({"process_rss_mib": 400.0}, {"process_rss_mib": 850.0}, None),
        ({"process_rss_mib": 4000.0}, {"process_rss_mib": 5000.0}, None),
        ({"children_rss_mib": 400.0}, {"children_rss_mib": 1200.0}, "memory of workers and actors grew"),
        ({"open_files": 20.0}, {"open_files": 90.0}, "open files grew from 20 to 90"),
        ({"open_files": 20.0}, {"open_files": 60.0}, None),
        ({"threads": 60.0}, {"threads": 130.0}, "threads grew from 60 to 130"),
        ({"gpu_utilisation": 3.0}, {"gpu_utilisation": 4.0}, "the GPU is used for 4 % of the time"),
        ({"gpu_utilisation": 3.0}, {"gpu_utilisation": 80.0}, None),
    ],
)
def test_what_grows_or_lies_idle_is_told(made, first, last, words):
    made.resources(7200.0, **first).resources(10.0, **last)
    told = [finding.sentence for finding in found_in(made)[1 if words is None or "GPU" in words else 0 :]]
    assert told == [] if words is None else told[0].startswith(words)


def test_a_process_grows_while_its_replay_fills(tmp_path):
    made = healthy(tmp_path / "run").updates(30, replay__fill=lambda update: update / 40)
    made.resources(7200.0, process_rss_mib=400.0).resources(10.0, process_rss_mib=1200.0)
    assert about(made, "memory grew") is None
    full = healthy(tmp_path / "full").updates(30, replay__fill=lambda update: min(1.0, update / 2))
    full.resources(7200.0, process_rss_mib=400.0).resources(10.0, process_rss_mib=1200.0)
    assert about(full, "memory grew") is not None


def test_handles_are_looked_up_where_the_process_still_is(made):
    made.resources(7200.0, open_files=20.0).resources(10.0, open_files=90.0)
    assert RESUME in about(made, "open files grew").action
    made.status("running")
    with made.folder.lock():
        assert f"/proc/{PID}/fd" in about(made, "open files grew").action


def test_a_run_without_heartbeats_is_judged_by_its_rows(tmp_path):
    made = HandMade(tmp_path / "run").status("running").updates(3)
    made.checkpoint(3)
    with made.folder.lock():
        assert about(made, "there are no heartbeats").severity == "note"
    assert about(made, "there are no heartbeats") is None  # it is gone anyhow
