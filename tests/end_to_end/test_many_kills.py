"""A training process that is killed at many random moments, checkpoint writes included, loses nothing."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import everything
import pytest
from tiny_runs import begin_and_abandon, event_kinds, saving_every, straight, tiny, trace

from respawn.collection.config import CollectionConfig
from respawn.training.launch import take_up
from the_game import needed_rom

LAG_1 = CollectionConfig(num_lanes=3, horizon_steps=8, lag=1)
SCHOOLS = CollectionConfig(num_lanes=12, horizon_steps=8, lag=1)
KILLED = {
    "replay": (tiny("vtrace-replay", "gru", updates=125, collection=LAG_1), 25),
    "everything-fish": (replace(everything.fish(SCHOOLS), updates=50), 8),
    "everything-mario": (replace(everything.mario(), updates=50), 8),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_run_killed_many_times_ends_in_the_same_weights(name, tmp_path, monkeypatch):
    if name.endswith("mario"):
        needed_rom()
    config, num_kills = KILLED[name]
    config = replace(config, checkpoints=saving_every(1))
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=2)
    script = Path(__file__).with_name("kill_again_and_again.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder.path), str(num_kills), "7"],
        capture_output=True,
        text=True,
        timeout=150,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)
    assert [kill["was_killed"] for kill in kills] == [True] * num_kills
    assert sum(kill["while_writing"] for kill in kills) >= num_kills // 5, kills
    assert len({kill["updates"] for kill in kills}) > num_kills // 5, kills  # it was killed all along the way
    assert kills[-1]["updates"] < config.updates, kills  # it had not come to its end by itself
    assert event_kinds(folder).count("resumed") >= num_kills // 2 - 2
    assert "damaged_checkpoint" not in event_kinds(folder)  # a kill damages nothing
    settings = json.loads(folder.config.read_text())
    settings["checkpoints"]["every_updates"] = 0  # the rest is undisturbed, and need not be saved so often
    folder.config.write_text(json.dumps(settings))
    assert take_up(folder).updates == config.updates
    went = straight(config, tmp_path)
    assert json.dumps(asdict(trace(folder)), sort_keys=True) == json.dumps(asdict(went), sort_keys=True)
    assert not list(folder.checkpoints.glob(".*"))
