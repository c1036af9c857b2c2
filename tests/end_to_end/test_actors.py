"""Actors in processes of their own: no kill changes a number, and nothing is left behind."""

import gc
import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import tiny_runs
from respawn_process import start, wait_until, words_for
from tiny_runs import count_rows, event_kinds, saving_every, straight, tiny, trace

from respawn.collection.config import CollectionConfig
from respawn.presets.mario import PRESETS as MARIO
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.runs.reader import read_events
from respawn.training import launch
from respawn.training.drive import Outcome, save_if_due
from respawn.training.loop import updates
from respawn.worlds.fish.config import FishConfig
from the_game import needed_rom

TWO = CollectionConfig(num_lanes=3, horizon_steps=8, actors=2, rollout_seconds=1.5)


@pytest.fixture(autouse=True)
def seconds_of_rollouts_that_wait(monkeypatch):
    """Rollouts that wait are saved with how long they took."""
    monkeypatch.setattr(tiny_runs, "TIMED_FILES", {*tiny_runs.TIMED_FILES, "collector.json"})


def shared_memory():
    gc.collect()
    links = (Path(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))
    return [str(link.readlink()) for link in links if link.is_symlink() and "respawn-rollouts" in str(link.readlink())]


def test_lost_actors_and_a_kill_change_no_number(tmp_path, monkeypatch):
    """One is killed, one is stopped, then the run is left and taken up: still what it is without all that."""
    config = tiny("vtrace", "gru", updates=16, collection=TWO, checkpoints=saving_every(5))
    expected = straight(config, tmp_path)
    pids = []

    def left(run, folder, *ignored):
        save_if_due(run)
        for made, _ in enumerate(updates(run), 1):
            pids.extend(run.collector.pids)
            if made == 3:
                os.kill(run.collector.pids[0], signal.SIGKILL)
            if made == 6:
                os.kill(run.collector.pids[1], signal.SIGSTOP)
            if made == 12:
                break
        run.close()
        return Outcome("stopped", 137, run.clock.updates, run.clock.decisions)

    with monkeypatch.context() as patch:
        patch.setattr(launch, "drive", left)
        folder, _ = launch.begin(config, preset="test", runs_dir=tmp_path, name="left")
    causes = {timed.event.facts["cause"] for timed in read_events(folder) if timed.event.kind == "actor_replaced"}
    assert causes == {"died with signal SIGKILL", "hung for more than 1.5 s"}
    assert len(set(pids)) == 4
    assert launch.take_up(folder).updates == 16
    assert trace(folder) == expected
    assert [row["weights/lag"] for row in expected.updates] == [0.0, 1.0] + [2.0] * 14
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert not psutil.Process().children(recursive=True)
    assert not shared_memory()


def test_free_order_learns_goes_on_and_says_that_it_is_not_exact(tmp_path):
    config = tiny("vtrace", updates=6, collection=replace(TWO, order="free"))
    folder, _ = launch.begin(config, preset="test", runs_dir=tmp_path, name="free")
    assert not read_meta(folder).exact_resume and "free" in read_meta(folder).exact_resume_note
    assert launch.take_up(folder, updates=8).updates == 8
    assert event_kinds(folder).count("inexact_resume") == 2
    assert all(row["weights/lag"] <= 4 for row in trace(folder).updates)


def test_what_cannot_be_built_leaves_no_process(tmp_path, monkeypatch):
    def fail(*parts):
        raise OSError("no room for a learner")

    monkeypatch.setattr("respawn.training.assemble.build_learner", fail)
    with pytest.raises(OSError, match="no room"):
        launch.begin(tiny(collection=replace(TWO, actors=1)), preset="test", runs_dir=tmp_path, name="failed")
    assert not psutil.Process().children(recursive=True)
    assert not shared_memory()


def test_actors_end_with_a_trainer_that_is_killed(tmp_path):
    config = tiny(collection=CollectionConfig(num_lanes=3, horizon_steps=8))
    words = [*words_for(config), "--collection.actors", "2", "--updates", "100000", "--device", "cpu"]
    process = start("train", "cartpole-ppo", *words, "--runs", str(tmp_path), "--name", "killed")
    folder = RunFolder(tmp_path / "killed")
    wait_until(lambda: count_rows(folder.updates) > 2, process)
    actors = psutil.Process(process.pid).children(recursive=True)
    assert len(actors) == 2
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(actors, timeout=20)
    assert not alive


def worlds():
    small = tiny("ppo", updates=3, collection=replace(TWO, num_lanes=8, rollout_seconds=60.0))
    fish = replace(
        small,
        world=FishConfig(fish=4, judged_fish=5, limit_steps=12, spawn_radius=3.0),
        evaluation=replace(small.evaluation, every_updates=0),
        checkpoints=replace(small.checkpoints, best_metric="evaluation/survival_mean"),
    )
    mario = replace(small, world=MARIO["mario"].world, evaluation=replace(small.evaluation, every_updates=0))
    return {"fish": fish, "mario": mario}


@pytest.mark.parametrize("name", ["fish", "mario"])
def test_other_worlds_have_actors_too(name, tmp_path):
    if name == "mario":
        needed_rom()
    went = straight(worlds()[name], tmp_path)
    assert [row["weights/lag"] for row in went.updates] == [0.0, 1.0, 2.0]
