"""What a sweep says, and what becomes of it where nobody hears it."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from small_sweeps import SPACE, HereSupervisor, small_sweep, work_here

from respawn.cli.main import main
from respawn.cli.sweep_telling import Teller
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.sweeps.definition import Definition
from respawn.sweeps.space import Range
from respawn.sweeps.storage import open_study
from respawn.sweeps.supervisor import STOPPING


def test_a_space_of_one_setting_has_one_setting(tmp_path, capsys):
    base = find_preset("cartpole-ppo")
    definition = Definition("cartpole-ppo", base, {"learner.clip": Range(0.1, 0.4)}, "evaluation/return_mean")
    study = open_study(f"journal:{tmp_path / 'journal.log'}", "small", definition)
    Teller(study, definition, 3, to_stderr=False).begin("small")
    assert "over 1 setting, with " in capsys.readouterr().out


def unread(kind):
    """A standard output whose reader has left, or whose terminal was closed."""
    ours, theirs = os.pipe() if kind == "pipe" else pty.openpty()
    os.close(ours)
    return open(theirs, "w")


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_a_reader_that_leaves_ends_nothing(tmp_path, monkeypatch, kind):
    work_here(tmp_path, monkeypatch)
    with unread(kind) as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert main(small_sweep("--trials", "2")) == 0
    summary = json.loads(Path("sweeps/small/summary.json").read_text())
    assert summary["counts"]["complete"] == 2 and len(summary["fresh_seeds"]) == 2


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_one_that_nobody_hears_any_more_answers_as_it_ended(tmp_path, monkeypatch, words):
    work_here(tmp_path, monkeypatch)
    monkeypatch.setattr(HereSupervisor, "work", lambda self, workers: (self.tell(0, STOPPING, {}), 129)[1])
    with unread("terminal") as out, unread("terminal") as err, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        assert main(small_sweep("--trials", "2", *words)) == 129


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_terminal_that_is_closed_stops_a_sweep_and_saves_it(tmp_path):
    (tmp_path / "space.toml").write_text(SPACE)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "respawn", *small_sweep("--updates", "100000", "--workers", "2")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        cwd=tmp_path,
    )
    os.close(theirs)
    try:
        runs = [RunFolder(tmp_path / f"runs/small-t000{number}") for number in (0, 1)]
        deadline = monotonic() + 120
        while not all(run.evaluations.exists() and run.evaluations.stat().st_size for run in runs):
            assert monotonic() < deadline and process.poll() is None, "it does not train"
            sleep(0.1)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(120) == 128 + signal.SIGHUP
    finally:
        process.kill()
        process.wait()
    assert [read_status(run).status for run in runs] == ["stopped", "stopped"]
    assert (tmp_path / "sweeps/small/summary.json").is_file()
