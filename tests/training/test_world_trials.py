"""How trials are watched: a stand-in takes the place of the process that carries one out."""

import json
import os
import subprocess
import sys
import time

import psutil
import pytest

from respawn.training import world_trials
from respawn.training.world_backends import TrialPlan
from respawn.training.world_trials import last_output, run_trial, run_trials, summarize

STAND_IN = """#!{python}
import json, os, signal, subprocess, sys, time
from pathlib import Path

folder = Path(sys.argv[-1])
plan = json.loads((folder / "plan.json").read_text())


def mark(stage, **facts):
    with (folder / "trial.jsonl").open("a") as file:
        file.write(json.dumps({{"stage": stage, **facts}}) + "\\n")


def leave(**facts):
    known = {{"ok": True, "error": None, "episodes": 3, "ends": {{"flag": 3}}, "steps_done": plan["steps"]}}
    (folder / "result.json").write_text(json.dumps({{**known, "construct_seconds": 0.5, **facts}}))


mark("construct")
{body}
"""
HANGS = """
signal.signal(signal.SIGUSR1, lambda *_: print("its stack", flush=True))
mark("step", steps_done=100)
Path(folder.parent / "pid").write_text(str(os.getpid()))
while True:
    time.sleep(0.05)
"""
LEAVES_A_CHILD = """
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
Path(folder.parent / "pid").write_text(str(child.pid))
time.sleep(1.0)
leave()
"""

STANDS_STILL = """
import os, time
from pathlib import Path
Path(__file__).with_name("pid.new").write_text(str(os.getpid()))
Path(__file__).with_name("pid.new").rename(Path(__file__).with_name("pid"))
time.sleep(60)
"""
TRIES = """
import sys
from pathlib import Path
from respawn.training.world_backends import TrialPlan
from respawn.training.world_trials import run_trial
run_trial(TrialPlan(1, "gymnasium", 1, 0, 0, 10, 60.0, imports=("stands_still",)), Path(sys.argv[1]))
"""


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """Carries out one trial whose process does what it is told to."""
    python = sys.executable

    def carry_out(body, **changes):
        stand_in = tmp_path / "stand-in"
        stand_in.write_text(STAND_IN.format(python=python, body=body))
        stand_in.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(stand_in))
        try:
            return run_trial(planned(**changes), tmp_path / "trial")
        finally:
            monkeypatch.setattr(sys, "executable", python)

    monkeypatch.setattr(world_trials, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(world_trials, "STACK_SECONDS", 2.0)
    monkeypatch.setattr(world_trials, "GRACE_SECONDS", 0.3)
    return carry_out


def planned(limit_seconds=60.0, trial=1, backend="gymnasium", steps=1_000):
    return TrialPlan(trial, backend, 2, 0, 0, steps, limit_seconds)


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_good_trial_leaves_a_record_and_nothing_else(tried, tmp_path):
    record = tried("leave()")
    assert record["ok"] and record["error"] is None and record["diagnostics"] is None
    assert (record["trial"], record["num_lanes"], record["steps_done"], record["ends"]) == (1, 2, 1_000, {"flag": 3})
    assert record["construct_seconds"] == 0.5 and record["reset_seconds"] is None
    assert record["duration_seconds"] > 0 and record["timestamp"].endswith("Z")
    assert not (tmp_path / "trial").exists()


def test_one_that_hangs_is_ended_and_says_where_it_stood(tried, tmp_path):
    record = tried(HANGS, limit_seconds=6.0)  # of which a busy machine may take some to start it
    assert record["error"] == "hung for more than 6 s in step, and left no result"
    assert record["steps_done"] == 100 and not record["ok"]
    assert "its stack" in last_output(record)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_one_that_dies_says_of_what(tried):
    record = tried("os.kill(os.getpid(), signal.SIGSEGV)")
    assert record["error"] == "died with signal SIGSEGV in construct, and left no result"


def test_what_is_printed_is_no_result(tried):
    record = tried("print(json.dumps({'ok': True}))")
    assert record["error"] == "ended with exit code 0 in construct, and left no result"
    assert last_output(record) == '{"ok": true}\n'


def test_half_a_result_is_none(tried):
    record = tried("(folder / 'result.json').write_text('{\"ok\": tr')")
    assert record["error"] == "ended with exit code 0 in construct, and left no result"


def test_what_went_wrong_is_told_without_the_folder_of_the_trial(tried, tmp_path):
    record = tried("leave(ok=False, error=f'worker 1 hung; see {folder}/worker-1.jsonl'); sys.exit(1)")
    assert record["error"] == "worker 1 hung; see worker-1.jsonl"
    assert record["diagnostics"] == str(tmp_path / "trial")
    assert {path.name for path in (tmp_path / "trial").iterdir()} == {
        "plan.json", "result.json", "trial.jsonl", "trial.out",
    }  # fmt: skip


def test_a_process_that_is_left_behind_is_ended_and_is_a_failure(tried, tmp_path):
    record = tried(LEAVES_A_CHILD)
    assert record["error"] == "left 1 processes behind" and not record["ok"]
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_no_trial_outlives_whoever_tries(tmp_path):
    (tmp_path / "stands_still.py").write_text(STANDS_STILL)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", TRIES, str(tmp_path / "trial")], env=environment)
    try:
        while not (tmp_path / "pid").exists():
            assert parent.poll() is None, "it tries nothing"
            time.sleep(0.02)
        trial = psutil.Process(int((tmp_path / "pid").read_text()))
        assert trial.ppid() == parent.pid
    finally:
        parent.kill()
        parent.wait()
    _, alive = psutil.wait_procs([trial], timeout=8)
    for process in alive:
        process.kill()
    assert alive == []


def record_of(trial, backend="gymnasium", error=None, **changes):
    known = {"construct_seconds": 0.1 * trial, "reset_seconds": None, "step_seconds": 1.0, "duration_seconds": 2.0}
    facts = {"trial": trial, "backend": backend, "num_lanes": 2, "workers": 0, "steps": 10, "steps_done": 10}
    told = {"episodes": trial, "ends": {"flag": trial}, "ok": error is None, "error": error}
    return {**known, **facts, **told, **changes}


def test_records_are_summed_up_by_backend():
    records = [record_of(1), record_of(2, error="it broke"), record_of(3, error="it broke"), record_of(1, "fish")]
    summary = summarize(records)
    assert (summary["trials"], summary["ok"], summary["failed"]) == (4, 2, 2)
    found = summary["backends"]["gymnasium"]
    assert (found["trials"], found["ok"], found["failed"]) == (3, 1, 2)
    assert found["lane_steps"] == 60 and found["episodes"] == 6 and found["ends"] == {"flag": 6}
    assert found["construct_seconds"] == {"min": 0.1, "mean": pytest.approx(0.2), "max": pytest.approx(0.3)}
    assert found["reset_seconds"] is None
    assert found["top_errors"] == [{"error": "it broke", "trials": 2}]
    assert list(summary["backends"]) == ["gymnasium", "fish"]


def test_every_trial_is_in_the_report_as_soon_as_it_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(world_trials, "run_trial", lambda plan, folder: record_of(plan.trial, error="it broke"))
    told = []

    def tell(record):
        lines = (tmp_path / "out" / "report.jsonl").read_text().splitlines()
        told.append((record["trial"], len(lines)))

    records = run_trials([planned(trial=1), planned(trial=2)], tmp_path / "out", tell)
    assert told == [(1, 1), (2, 2)]
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == summarize(records)


def test_what_was_tried_before_an_interruption_is_summed_up_and_told(tmp_path, monkeypatch):
    def run(plan, folder):
        if plan.trial == 2:
            raise KeyboardInterrupt
        return record_of(plan.trial)

    monkeypatch.setattr(world_trials, "run_trial", run)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt) as stop:
        run_trials([planned(trial=trial) for trial in (1, 2, 3)], out, lambda record: None)
    assert stop.value.__notes__ == [f"after 1 of 3 trials; their report and summary are in {out}"]
    assert json.loads((out / "summary.json").read_text())["trials"] == 1
