"""With replay, channels, scripts, a curriculum and hard starts on at once, a run that is left goes on exactly."""

import json
from dataclasses import asdict, replace

import everything
import pytest
import tiny_runs
from tiny_runs import begin_and_abandon, event_kinds, straight, timeless_rows, trace

from respawn.collection.config import CollectionConfig
from respawn.runs.layout import RunFolder
from respawn.training.launch import take_up
from respawn.worlds.mario.starts import open_game
from the_game import needed_rom

WAYS = {
    "sync": {},
    "overlap": {"lag": 1},
    "overlap-serial": {"lag": 1, "threaded": False},
    "actors": {"actors": 2},
}


@pytest.fixture(autouse=True)
def close_the_game():
    """Whatever is still open when Python ends is complained about."""
    yield
    open_game.cache_clear()


def as_text(folder):
    """All that may not change, where a number that is none equals itself."""
    rows = [timeless_rows(stream) for stream in (folder.rulings, folder.probes)]
    return json.dumps([asdict(trace(folder)), *rows], sort_keys=True)


def check_left_and_taken_up(config, tmp_path, monkeypatch):
    if config.collection.actors:  # rollouts that wait are saved with how long they took
        monkeypatch.setattr(tiny_runs, "TIMED_FILES", {*tiny_runs.TIMED_FILES, "collector.json"})
    went = straight(config, tmp_path)
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=22)
    assert take_up(folder).updates == everything.UPDATES
    assert as_text(folder) == as_text(RunFolder(tmp_path / "straight"))
    return went, folder


@pytest.mark.parametrize("way", WAYS)
def test_mario(way, tmp_path, monkeypatch):
    needed_rom()
    everything.open_levels_soon(monkeypatch)
    config = everything.mario(CollectionConfig(num_lanes=4, horizon_steps=16, **WAYS[way]))
    went, folder = check_left_and_taken_up(config, tmp_path, monkeypatch)
    assert {row["knob/last_level"] for row in went.updates} == {1.0, 2.0}
    assert sum(row.get("world/hard_starts", 0) for row in went.updates[:22]) > 0
    assert sum(row.get("world/hard_starts", 0) for row in went.updates[22:]) > 0
    check_all_was_at_work(went, folder)


@pytest.mark.parametrize("way", WAYS)
def test_fish(way, tmp_path, monkeypatch):
    collection = CollectionConfig(num_lanes=12, horizon_steps=8, **WAYS[way])
    went, folder = check_left_and_taken_up(everything.fish(collection), tmp_path, monkeypatch)
    assert {row["knob/school_size"] for row in went.updates} == {2.0, 4.0}
    assert sum(row.get("world/hard_starts", 0) for row in went.updates) > 0
    check_all_was_at_work(went, folder)


def check_all_was_at_work(went, folder):
    """Whatever is on must have done something both before the run was left and after."""
    for rows in (went.updates[:20], went.updates[24:]):
        assert any(row["replay/sampled"] for row in rows)
        assert any(row["collect/scripted_fraction"] for row in rows)
        assert len({row["knob/learning_rate"] for row in rows}) == len(rows)
    moved = {row["facts"].get("knob") for row in timeless_rows(folder.rulings) if row["facts"].get("event") == "lower"}
    assert {"entropy_cost", "learning_rate"} <= moved
    assert "script_begins" in event_kinds(folder)


@pytest.mark.parametrize("make", [everything.mario, everything.fish])
def test_each_of_them_changes_the_run(make, tmp_path):
    """What is on is not merely said to be: without any one of them the weights end up elsewhere."""
    if make is everything.mario:
        needed_rom()
    config = replace(make(), updates=14)
    schedules = config.schedules
    without = {
        "replay": replace(config, learner=tiny_runs.LEARNERS["vtrace"]),
        "channels": replace(config, schedules=replace(schedules, adaptive=())),
        "scripts": replace(config, schedules=replace(schedules, progression=type(schedules.progression)())),
        "curriculum": replace(
            config,
            schedules=replace(schedules, curriculum=None),
            evaluation=replace(config.evaluation, scout=type(config.evaluation.scout)()),
        ),
    }
    found = {name: straight(changed, tmp_path, name).weights_sha256 for name, changed in without.items()}
    found["all"] = straight(config, tmp_path, "all").weights_sha256
    assert len(set(found.values())) == len(found), found
