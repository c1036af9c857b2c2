import json
from dataclasses import replace
from typing import ClassVar

import pytest

from bench_cases import Steady, measure_here
from respawn.presets import find_preset
from respawn.training import bench_case, bench_peer
from respawn.training.bench_train import TrainPlan, measure_training, update_milliseconds

PHASE_SECONDS = {"collect": 0.4, "learn": 0.5, "wait": 0.2, "act": 0.1, "world": 0.3}


class Ours(Steady):
    """A hundred decisions a second and lane, and half an update."""

    def __init__(self, config, pacing, *, writes_rows):
        assert writes_rows and pacing.seconds == 0.5
        super().__init__(100 * config.collection.num_lanes)

    def turn(self):
        more = {"updates": 2, "frames": 1, "cpu_seconds": 0.5, "others_cores": 0.1, "phase_seconds": PHASE_SECONDS}
        return {**super().turn(), **more, "collect_share": 0.4, "learn_share": 0.5, "idle_share": 0.0}


class Peers(Steady):
    """Twice as fast with two threads; with all lanes in one call it breaks down."""

    how: ClassVar = {}

    def __init__(self, script, told, python, threads, seconds):
        vector = json.loads(told)["vector"]
        super().__init__(20 * threads, begins=self.how.get((vector, threads), ""))

    def turn(self):
        return {**super().turn(), "cpu_seconds": 1.0, "others_cores": 0.3}


@pytest.fixture
def measured(monkeypatch, tmp_path):
    measure_here(monkeypatch)
    monkeypatch.setattr(bench_case, "TrainingCase", Ours)
    monkeypatch.setattr(bench_peer, "PeerCase", Peers)
    monkeypatch.setattr(bench_peer, "resolve_threads", lambda threads: threads or 2)

    def measure(presets, how=None, **plan):
        monkeypatch.setattr(Peers, "how", how or {})
        configs = {preset: replace(find_preset(preset), device="cpu") for preset in presets}
        return measure_training(configs, TrainPlan(rounds=2, seconds=0.5, peers=tmp_path, **plan))

    return measure


def test_of_a_peer_the_faster_number_of_threads_counts(measured):
    (cell,) = measured(["mario"], lanes=(4,))
    assert cell["decisions_per_second"] == 400 and (cell["lanes"], cell["horizon_steps"]) == (4, 64)
    assert cell["spread"] == {"min": 400, "max": 400, "per_core_second": 800, "cores_used": 0.5}
    peer = cell["peers"]["sb3"]
    assert peer["by_threads"] == {"1": 20, "2": 40} and peer["threads"] == 2 and peer["ratio"] == 10
    assert peer["ratio_of_rounds"] == {"min": 10, "median": 10, "max": 10}
    # Ratios of rows are to the peer as its users have it.
    assert [(row["mode"], row["threads"], row["ratio"]) for row in cell["rows"]] == [
        *(("respawn", 2, 10), ("sb3", 2, 1), ("sb3_vector", 2, 1)),
    ]
    assert cell["others_cores"] == pytest.approx(0.3) and cell["epochs"] == 4 and cell["peers_not_installed"] == []


def test_sizes_and_presets_make_a_matrix_and_peers_are_where_they_can_be(measured):
    cells = measured(["mario", "cartpole-vtrace"], lanes=(1, 2), horizons=(8,))
    assert [(cell["preset"], cell["lanes"], len(cell["rows"])) for cell in cells] == [
        *(("mario", 1, 3), ("mario", 2, 3), ("cartpole-vtrace", 1, 1), ("cartpole-vtrace", 2, 1)),
    ]
    assert cells[2]["peers"] == {} and cells[2]["rows"][0]["ratio"] is None and "epochs" not in cells[2]


def test_a_peer_that_is_not_installed_is_left_out(measured):
    how = {(vector, threads): "missing" for vector in (False, True) for threads in (1, 2)}
    (cell,) = measured(["mario"], how)
    assert cell["peers_not_installed"] == ["gold"] and cell["peers"] == {}
    assert [row["mode"] for row in cell["rows"]] == ["respawn"] and cell["rows"][0]["error"] is None


def test_a_peer_that_fails_is_a_row_with_its_error(measured):
    (cell,) = measured(["mario"], {(True, 1): "sentence", (True, 2): "sentence", (False, 2): "sentence"})
    found = [(row["mode"], row["threads"], row["error"] is None) for row in cell["rows"]]
    # One of sb3's two went well, and both of the other failed for the same reason.
    assert found == [("respawn", 2, True), ("sb3", 1, True), ("sb3", 2, False), ("sb3_vector", 1, False)]
    assert list(cell["peers"]) == ["sb3"] and cell["peers"]["sb3"]["threads"] == 1


def test_where_nobody_else_is_asked_only_we_are_measured(measured):
    configs = {"mario": find_preset("mario")}
    (cell,) = measure_training(configs, TrainPlan(rounds=1, seconds=0.5))
    assert [row["mode"] for row in cell["rows"]] == ["respawn"] and cell["peers"] == {}


def test_an_updates_time_is_told_by_its_parts():
    turn = {"seconds": 2.0, "updates": 2, "idle_share": 0.0, "phase_seconds": PHASE_SECONDS}
    said = update_milliseconds([turn])
    assert said == pytest.approx({"act": 50, "world": 150, "learn": 250, "rest": 550, "update": 1000})
    beside = update_milliseconds([{**turn, "idle_share": 0.1}])
    assert beside == pytest.approx({"collect": 200, "learn": 250, "wait": 100, "update": 1000})
