"""What benchmarks/observers_cost.py goes by: observers that are off see nothing, and shares are what they say."""

import io
import random
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from respawn.presets import find_preset
from respawn.runs.layout import create
from respawn.runs.metadata import new_meta
from respawn.runs.reader import read_updates

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import observers_cost as bench


def test_a_share_is_how_much_more_the_observed_took():
    pairs = [(1.02 + noise, 1.0 + noise) for noise in (0.0, 0.5, 0.1, 0.2)] * 5
    share = bench.share_of(pairs)
    assert share.share == pytest.approx(0.08 / 4.8)
    assert share.low is not None and share.high is not None
    assert 0.013 < share.low <= share.share <= share.high < 0.02
    assert bench.share_of([(1.0, 1.0)] * 20) == bench.Share(0.0, 0.0, 0.0)
    assert bench.share_of([(1.5, 1.0)] * 19) == bench.Share(0.5, None, None)


def test_the_interval_is_wide_where_pairs_differ():
    noise = random.Random(1)
    share = bench.share_of([(1 + noise.random(), 1 + noise.random()) for _ in range(50)])
    assert share.low < 0 < share.high and share.high - share.low > 0.05


@pytest.fixture
def training(tmp_path):
    config = find_preset("cartpole-ppo")
    config = replace(config, collection=replace(config.collection, num_lanes=2, horizon_steps=64))
    folder = create(tmp_path, "one", asdict(new_meta("one", "cartpole-ppo", "CartPole-v1", 1)), {})
    training = bench.Training(bench.all_on(config, slower=1.0), folder, io.StringIO())
    yield training, folder
    training.close()


def test_all_observers_are_on_and_while_they_are_off_they_see_nothing(training):
    training, folder = training
    assert {
        "updates", "episodes", "evaluations", "probes", "rulings", "events", "latest", "tensorboard", "console",
        "resource_stream", "resources", "heartbeat", "hints",
    } == set(training.switch.hub._observers)  # fmt: skip
    training.go_on(2)
    training.observe(False)
    last = training.pulse.phases.last_move()
    training.go_on(3)
    assert training.pulse.phases.last_move() == last
    training.observe(True)
    training.go_on(1)
    assert [row.update for row in read_updates(folder)] == [1, 2, 6]


def test_what_each_took_is_counted(training):
    training, _ = training
    found = bench.accounted(training, seconds=0.3)
    assert {"updates", "latest", "thread heartbeat", "thread resources", "thread tensorboard"} <= set(
        found["by_observer"]
    )
    assert sum(found["by_observer"].values()) == pytest.approx(found["share_of_processor_time"])
    assert 0 < found["share_of_processor_time"] < 1 and found["processor_seconds"] > 0
