from dataclasses import replace

import pytest
import torch

from respawn.collection.config import CollectionConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import UpdateReport
from respawn.errors import ConfigError
from respawn.presets import all_presets, find_preset
from respawn.runs.layout import RunFolder
from respawn.training import bench_case
from respawn.training.assemble import assemble
from respawn.training.bench_case import TrainingCase, Way, phases, shares, sized, training_entry
from respawn.training.bench_pacing import CountedPacing, TimedPacing
from respawn.training.config import MOST_UPDATES
from respawn.worlds.mario.config import MarioConfig
from the_game import needed_rom

POLE = find_preset("cartpole-ppo")


@pytest.fixture
def small():
    """Trained in no time, on the CPU."""
    before = torch.get_num_threads()
    learner = replace(POLE.learner, epochs=1, minibatches=2)
    yield replace(POLE, device="cpu", threads=1, learner=learner, collection=CollectionConfig(2, 8))
    torch.set_num_threads(before)


@pytest.mark.parametrize("lag", [0, 1])
def test_a_turn_counts_what_was_learned_from(small, lag):
    config = replace(small, collection=replace(small.collection, lag=lag))
    case = TrainingCase(config, CountedPacing(5, 0.0))
    try:
        for _ in range(2):
            turn = case.turn()
            assert turn["updates"] == 2 and turn["decisions"] == 2 * 2 * 8 == turn["frames"]
            assert turn["seconds"] > 0 and turn["gpu_util"] is None and turn["replay_fill"] is None
            assert 0 < turn["learn_share"] <= 1 and turn["collect_share"] > 0
            assert (turn["idle_share"] > 0) == (lag == 1)
            assert turn["phase_seconds"]["learn"] == pytest.approx(turn["learn_share"] * turn["seconds"])
    finally:
        case.close()


def test_time_can_be_measured_out_and_rows_be_written_and_no_more(small, monkeypatch):
    places = []
    monkeypatch.setattr(bench_case, "RunFolder", lambda path: places.append(path) or RunFolder(path))
    judged = replace(small.evaluation, every_updates=1, episodes=1, stop_at=0.0, video_every=1)
    often = replace(small.checkpoints, every_updates=1)
    config = replace(small, updates=1, minutes=1e-9, evaluation=judged, checkpoints=often)
    case = TrainingCase(config, TimedPacing(1e-6), writes_rows=True)
    assert case.turn()["updates"] == 1
    names = {path.name for path in places[0].rglob("*")}
    assert "updates.jsonl" in names and len((places[0] / "updates.jsonl").read_text().splitlines()) == 4
    assert not any((places[0] / "evaluations.jsonl").read_text().splitlines()) and not names & {"checkpoints", "videos"}
    case.close()
    assert not places[0].exists()


@pytest.mark.parametrize("preset", sorted(name for name, config in all_presets().items() if not config.wants_gpu))
def test_every_preset_that_fits_a_cpu_can_be_measured(preset, monkeypatch):
    config = replace(find_preset(preset), device="cpu")
    if isinstance(config.world, MarioConfig):
        needed_rom()
    before = torch.get_num_threads()
    assembled = []
    monkeypatch.setattr(bench_case, "assemble", lambda *parts: assembled.append(assemble(*parts)) or assembled[0])
    try:
        TrainingCase(config, TimedPacing()).close()
    finally:
        torch.set_num_threads(before)
    run, late = assembled[0], Clock(updates=MOST_UPDATES, seconds=1e9)
    assert not run.cadence.finished(late) and not run.cadence.evaluation_due(late)
    assert not run.cadence.checkpoint_due(late)


def test_ways_have_names_and_leave_out_what_means_nothing_there():
    overlap, actors = Way(lag=1), Way(actors=3)
    assert [way.mode for way in (Way(), overlap, actors)] == ["sync", "overlap", "actors"]
    lazy = CollectionConfig(4, 8, lag=1, threaded=False)
    assert overlap.collection(lazy) == CollectionConfig(4, 8, lag=1)
    assert actors.collection(lazy) == CollectionConfig(4, 8, actors=3)
    acted = CollectionConfig(4, 8, actors=2, most_lag=4, order="free", actor_threads=2)
    assert overlap.collection(acted) == CollectionConfig(4, 8, lag=1)
    assert actors.collection(acted) == CollectionConfig(4, 8, actors=3, order="free", actor_threads=2)


def test_sizes_are_those_that_are_given():
    assert sized(POLE, None, None) == POLE.collection
    other = sized(POLE, 3, 5)
    assert (other.num_lanes, other.horizon_steps) == (3, 5)


def test_what_does_not_fit_together_fails_where_it_is_made(small):
    entry = training_entry(small, CollectionConfig(1, 1), CountedPacing(), mode="sync")
    assert entry.facts == {"mode": "sync", "num_envs": 1, "rollout": 1, "lag": 0, "actors": 0, "threads": 1}
    assert entry.longest_turn == CountedPacing().longest_seconds(0)
    with pytest.raises(ConfigError, match="minibatches"):
        entry.make()


def test_graphs_are_for_those_that_collect_in_turn(monkeypatch):
    made = []
    monkeypatch.setattr(bench_case, "TrainingCase", lambda config, pacing, writes_rows: made.append(config))
    pixels = find_preset("mario-pixels")
    for way in (Way(), Way(lag=1), Way(actors=2)):
        training_entry(pixels, way.collection(pixels.collection), CountedPacing(), mode=way.mode).make()
    assert [config.model.cuda_graphs for config in made] == [True, False, False]


def test_shares_are_of_the_time():
    told = {"time/collect_seconds": 1.0, "time/learn_seconds": 3.0, "time/wait_seconds": 0.5}
    reports = [UpdateReport(1, 1, 1, 0, told), UpdateReport(2, 2, 2, 0, told)]
    assert phases(reports) == {"collect": 2.0, "learn": 6.0, "wait": 1.0}
    assert shares(reports, 8.0, beside=False) == {"collect_share": 0.25, "learn_share": 0.75, "idle_share": 0.0}
    assert shares(reports, 8.0, beside=True)["idle_share"] == 0.125
