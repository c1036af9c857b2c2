"""A run that is left and taken up again ends where the run ends that was never left, to the last bit."""

from dataclasses import replace

import pytest
from tiny_runs import CORES, REPLAY, begin_and_abandon, event_kinds, saving_every, straight, tiny, trace

from respawn.checkpoints.store import find_newest
from respawn.collection.config import CollectionConfig
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.models.config import ModelConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.testing.fakes import FakeWorld
from respawn.training import assemble, collecting
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig

LANES = CollectionConfig(num_lanes=3, horizon_steps=8)
LAGS = {
    "lag0": LANES,
    "lag1-serial": replace(LANES, lag=1, threaded=False),
    "lag1-threaded": replace(LANES, lag=1, threaded=True),
}
VARIANTS = {
    "lstm": tiny("ppo", "lstm", collection=LAGS["lag1-threaded"]),
    "lstm-vtrace": tiny("vtrace", "lstm"),
    "transformer": tiny("ppo", "transformer"),
    "transformer-vtrace-lag1": tiny("vtrace", "transformer", collection=LAGS["lag1-threaded"]),
    "noisy": tiny("ppo", model=replace(CORES["none"], noisy=True)),
    "noisy-gru-vtrace-lag1": tiny("vtrace", model=replace(CORES["gru"], noisy=True), collection=LAGS["lag1-threaded"]),
    "separate-value": tiny("ppo", model=replace(CORES["none"], separate_value=True), collection=LAGS["lag1-threaded"]),
    "bfloat16-gru": tiny("ppo", model=replace(CORES["gru"], precision="bfloat16")),
    "recall-gru": tiny("ppo", "gru", world=RecallConfig(delay_steps=3, noise=0.5)),
    "recall-transformer-lag1": tiny(
        "vtrace", "transformer", world=RecallConfig(delay_steps=3, noise=0.5), collection=LAGS["lag1-threaded"]
    ),
    "continuous-actions": tiny("ppo", world=ForeignConfig(env_id="Pendulum-v1", max_episode_steps=11)),
    "truncated-episodes-lag1": tiny(
        "vtrace", "gru", world=ForeignConfig(max_episode_steps=7), collection=LAGS["lag1-serial"]
    ),
    "accumulation-and-kl-limit": tiny(
        learner=PPOConfig(epochs=3, minibatches=2, kl_limit=0.002, optimizer=OptimizerConfig(accumulation=2)),
        schedules=SchedulesConfig(entropy_cost=CurveConfig("linear", warmup_fraction=0.1)),
    ),
    "replay": tiny("vtrace-replay", "lstm"),
    "replay-transformer-lag1": tiny("vtrace-replay", "transformer", collection=LAGS["lag1-threaded"]),
    "replay-by-variance-halved": tiny(
        learner=VTraceConfig(
            replay=replace(REPLAY, every_updates=0, variance_trigger=0.9, half_scalars=True, sampler="device")
        ),
        world=ForeignConfig(max_episode_steps=7),
    ),
    "drawn-evaluation": tiny(evaluation=replace(tiny().evaluation, greedy=False)),
    "two-threads": tiny("vtrace", model=ModelConfig(hidden_sizes=(300,)), threads=2),
}


@pytest.mark.parametrize("learner", ["ppo", "vtrace"])
@pytest.mark.parametrize("core", ["none", "gru"])
@pytest.mark.parametrize("lag", LAGS)
def test_forty_updates_are_twenty_and_a_kill_and_twenty(learner, core, lag, tmp_path, monkeypatch):
    check_kill_changes_nothing(tiny(learner, core, collection=LAGS[lag]), tmp_path, monkeypatch)


@pytest.mark.parametrize("name", VARIANTS)
def test_what_a_run_is_made_of_makes_no_difference(name, tmp_path, monkeypatch):
    check_kill_changes_nothing(replace(VARIANTS[name], updates=24), tmp_path, monkeypatch, after=14)


def check_kill_changes_nothing(config, tmp_path, monkeypatch, after=20):
    expected = straight(config, tmp_path)
    assert len(expected.updates) == config.updates and len(expected.evaluations) == config.updates // 8
    assert expected.episodes
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=after)
    saved = find_newest(folder.checkpoints).manifest.updates
    assert saved < after  # the updates since then are lost and made again
    assert take_up(folder).updates == config.updates
    assert trace(folder) == expected


def test_a_world_with_absences_and_a_knob(tmp_path, monkeypatch):
    def make_fake(config, num_lanes, *, device, seed, diagnostics, notify):
        world = FakeWorld(num_lanes, device=device, with_absences=True)
        world.reset([seed + lane for lane in range(num_lanes)])
        return world

    for room in (assemble, collecting):
        monkeypatch.setattr(room, "make_world", make_fake)
    config = tiny("ppo", "gru", updates=24, collection=LAGS["lag1-threaded"])
    check_kill_changes_nothing(config, tmp_path, monkeypatch, after=14)


def test_worlds_in_worker_processes(tmp_path, monkeypatch):
    config = tiny(world=ForeignConfig(workers=2), updates=12)
    expected = straight(config, tmp_path)
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=11)
    take_up(folder)
    assert trace(folder) == expected
    in_process = straight(replace(config, world=ForeignConfig()), tmp_path, "in-process")
    assert in_process.weights_sha256 == expected.weights_sha256


@pytest.mark.parametrize("core", ["none", "gru"])
@pytest.mark.parametrize("learner", ["ppo", "vtrace"])
def test_a_thread_makes_no_difference_and_lag_does(learner, core, tmp_path):
    traces = {lag: straight(tiny(learner, core, updates=16, collection=LAGS[lag]), tmp_path, lag) for lag in LAGS}
    assert traces["lag1-threaded"] == traces["lag1-serial"]
    assert traces["lag1-serial"].weights_sha256 != traces["lag0"].weights_sha256
    assert {row["weights/lag"] for row in traces["lag0"].updates} == {0.0}
    assert [row["weights/lag"] for row in traces["lag1-serial"].updates] == [0.0] + [1.0] * 15


@pytest.mark.parametrize("after", [0, 1, 9, 19, 20])
def test_killed_right_at_the_edges(after, tmp_path, monkeypatch):
    config = tiny(updates=20, collection=LAGS["lag1-threaded"])
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=after)
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


def test_killed_many_times_over(tmp_path, monkeypatch):
    config = tiny("vtrace", "gru", updates=20, collection=LAGS["lag1-threaded"], checkpoints=saving_every(3))
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=7)
    for limit in (8, 8, 13, 17, 20):
        take_up(folder, updates=limit)
    assert trace(folder) == straight(config, tmp_path)


def test_killed_before_its_first_checkpoint(tmp_path, monkeypatch):
    config = tiny(updates=10)
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=0)
    (checkpoint,) = folder.checkpoints.iterdir()
    checkpoint.rename(checkpoint.with_name(".writing-u00000000-1"))  # killed while the very first one was written
    assert take_up(folder).updates == 10
    assert trace(folder) == straight(config, tmp_path)
    assert not list(folder.checkpoints.glob(".*"))


@pytest.mark.parametrize("lag", ["lag0", "lag1-threaded"])
def test_a_limit_that_is_moved_changes_no_number(lag, tmp_path):
    config = tiny(collection=LAGS[lag])
    folder, outcome = begin(replace(config, updates=20), preset="test", runs_dir=tmp_path, name="in-two")
    assert (outcome.status, outcome.updates, outcome.exit_code) == ("finished", 20, 0)
    assert take_up(folder, updates=40).updates == 40
    assert trace(folder) == straight(config, tmp_path)
    assert "plan_extended" not in event_kinds(folder)


def test_a_limit_of_time_changes_no_number(tmp_path):
    config = tiny()
    folder, outcome = begin(replace(config, minutes=0.05 / 60), preset="test", runs_dir=tmp_path, name="in-two")
    assert outcome.status == "finished" and 0 < outcome.updates < 40
    take_up(folder, minutes=60)
    assert trace(folder) == straight(config, tmp_path)


def test_a_limit_beyond_the_plan_says_that_the_plan_grows(tmp_path):
    folder, _ = begin(tiny(updates=4, planned_updates=4), preset="test", runs_dir=tmp_path, name="grown")
    assert take_up(folder, updates=6).updates == 6
    assert "plan_extended" in event_kinds(folder)


def test_a_run_that_is_finished_stays_as_it_is(tmp_path):
    folder, _ = begin(tiny(updates=10), preset="test", runs_dir=tmp_path, name="done")
    before = trace(folder)
    assert take_up(folder).updates == 10
    assert trace(folder) == before


def test_another_seed_is_another_run(tmp_path):
    ours = straight(tiny(updates=3), tmp_path, "a")
    assert straight(tiny(updates=3), tmp_path, "b") == ours
    assert straight(tiny(updates=3, seed=1), tmp_path, "c").weights_sha256 != ours.weights_sha256
