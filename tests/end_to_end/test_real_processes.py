"""Training in processes of its own, ended from outside: kill -9, SIGINT, SIGTERM."""

import signal
from dataclasses import replace

import pytest
from respawn_process import PATIENCE_SECONDS, start, wait_until, words_for
from tiny_runs import count_rows, event_kinds, straight, tiny, trace

from respawn.collection.config import CollectionConfig
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.training.launch import take_up
from respawn.training.recorded import load_config

LAG_1 = CollectionConfig(num_lanes=3, horizon_steps=8, lag=1)
CASES = {
    "ppo": ("cartpole-ppo", tiny("ppo")),
    "vtrace-gru-lag1": ("cartpole-vtrace", tiny("vtrace", "gru", collection=LAG_1)),
}


def train(case, runs_dir, num_updates):
    """Start training; returns the process and its run folder."""
    preset, config = CASES[case]
    limits = ["--updates", str(num_updates), "--planned-updates", "2000"]
    process = start("train", preset, *words_for(config), *limits, "--runs", str(runs_dir), "--name", "left")
    return process, RunFolder(runs_dir / "left")


def same_in_this_process(folder, runs_dir):
    """What the run would have been without any interruption."""
    return straight(replace(load_config(folder), observers=tiny().observers), runs_dir)


@pytest.mark.parametrize("case", CASES)
def test_kill_minus_nine(case, tmp_path):
    process, folder = train(case, tmp_path, 2000)
    wait_until(lambda: count_rows(folder.updates) >= 20, process)
    process.kill()
    process.communicate()
    last = max(40, count_rows(folder.updates) + 10)
    assert process.returncode == -signal.SIGKILL
    assert read_status(folder).status == "killed"
    if case == "ppo":
        resumed = start("resume", "--runs", str(tmp_path), "--updates", str(last))
        output, complaint = resumed.communicate(timeout=PATIENCE_SECONDS)
        assert resumed.returncode == 0, complaint
        assert "resuming left: the newest run that can go on" in output and "Learned: return" in output
    else:
        take_up(folder, updates=last)
    assert len(trace(folder).updates) == last
    assert trace(folder) == same_in_this_process(folder, tmp_path)
    assert read_status(folder).status == "finished"


@pytest.mark.parametrize(("case", "asked"), [("ppo", signal.SIGINT), ("vtrace-gru-lag1", signal.SIGTERM)])
def test_a_signal_saves_and_stops(case, asked, tmp_path):
    process, folder = train(case, tmp_path, 2000)
    wait_until(lambda: count_rows(folder.updates) >= 10, process)
    with pytest.raises(RunFolderError, match=f"left is in use by process {process.pid} on .*; wait for it or stop it"):
        take_up(folder)
    process.send_signal(asked)
    output, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + asked, complaint
    assert "respawn resume left" in output
    made = count_rows(folder.updates)
    status = read_status(folder)
    assert (status.status, status.facts["updates"]) == ("stopped", made)
    assert event_kinds(folder)[-1] == "stopped"
    stopped_at = folder.checkpoints / f"u{made:08d}"
    assert stopped_at.is_dir()  # nothing that was learned is lost
    take_up(folder, updates=made + 10)
    assert trace(folder) == same_in_this_process(folder, tmp_path)
    assert load_config(folder).updates == made + 10


def test_ctrl_c_saves_even_where_it_has_ended_whoever_read_the_output(tmp_path):
    """As in `respawn train … 2>&1 | tee log`, where the terminal interrupts both."""
    config = tiny(updates=100_000, planned_updates=100_000)
    words = ["train", "cartpole-ppo", "--updates", "100000", "--name", "left", "--runs", str(tmp_path)]
    process = start(*words, *words_for(config))
    folder = RunFolder(tmp_path / "left")
    wait_until(lambda: count_rows(folder.updates) >= 5, process)
    process.stdout.close()
    process.stderr.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE_SECONDS) == 130
    made = count_rows(folder.updates)
    assert read_status(folder).status == "stopped"
    assert (folder.checkpoints / f"u{made:08d}").is_dir()
