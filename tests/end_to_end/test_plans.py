"""Plans and runs with weights of others, ended from outside: what goes on is what would have been."""

import shutil
import signal
from dataclasses import replace

import pytest
from respawn_process import PATIENCE_SECONDS, start, wait_until
from tiny_runs import begin_and_abandon, count_rows, event_kinds, straight, tiny, trace

from respawn.collection.config import CollectionConfig
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.training.launch import begin, take_up

PLAN = """
preset = "cartpole-vtrace"
device = "cpu"
updates = 30
planned_updates = 30
[model]
hidden_sizes = [16]
core = "gru"
core_size = 8
[collection]
num_lanes = 3
horizon_steps = 8
lag = 1
[evaluation]
every_updates = 8
episodes = 2
num_lanes = 2
limit_steps = 60
[checkpoints]
every_updates = 9
[observers]
console = false
tensorboard = false
[[stages]]
name = "one"
[[stages]]
name = "two"
updates = 400
planned_updates = 400
[[stages]]
name = "three"
"""
STAGES = ("1-one", "2-two", "3-three")


def started(tmp_path, name):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return start("plan", str(file), "--name", name, "--runs", str(tmp_path))


def carried_out(tmp_path, name):
    """Go on to the end; what was printed."""
    process = started(tmp_path, name)
    output, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, complaint
    return output


def test_a_plan_that_is_killed_and_stopped_goes_on_exactly(tmp_path):
    second = RunFolder(tmp_path / "left-2-two")
    process = started(tmp_path, "left")
    wait_until(lambda: count_rows(second.updates) >= 20, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL and read_status(second).status == "killed"
    made = count_rows(second.updates)
    process = started(tmp_path, "left")
    wait_until(lambda: count_rows(second.updates) >= made + 20, process)
    process.send_signal(signal.SIGTERM)
    output, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 143, complaint
    assert "Stage 1, one: run left-1-one is finished at update 30 of 30; passed over." in output
    assert "Stopped in stage 2, two, at update" in output and not (tmp_path / "left-3-three").exists()
    output = carried_out(tmp_path, "left")
    assert "Stage 2, two: going on with run left-2-two to update 400." in output
    assert event_kinds(second).count("resumed") == 2 and event_kinds(second).count("weights_from") == 1
    carried_out(tmp_path, "straight")
    for stage in STAGES:
        # The names of the runs before are in the settings, and in nothing that is computed.
        assert trace(RunFolder(tmp_path / f"left-{stage}")) == trace(RunFolder(tmp_path / f"straight-{stage}"))


@pytest.mark.parametrize("learner", ["ppo", "vtrace-replay"])
@pytest.mark.parametrize("lag", [0, 1])
def test_a_run_with_weights_of_another_is_resumed_exactly_without_it(learner, lag, tmp_path, monkeypatch):
    config = tiny(learner, "gru" if learner == "vtrace-replay" else "none", updates=20)
    config = replace(config, collection=CollectionConfig(num_lanes=3, horizon_steps=8, lag=lag))
    source, _ = begin(replace(config, updates=3, seed=9), preset="test", runs_dir=tmp_path, name="source")
    config = replace(config, weights_from="source")
    expected = straight(config, tmp_path)
    assert expected != straight(replace(config, weights_from=""), tmp_path, "fresh")
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=5)  # the only checkpoint is of update 0
    shutil.rmtree(source.path)
    take_up(folder)
    assert trace(folder) == expected
