import json
import sys

import pytest

from respawn.cli import bench_train
from respawn.presets import find_preset
from respawn.training import bench_train as training
from respawn.training.bench_train import peer_plan
from respawn.worlds.mario.measure_engine import default_peers

FAST = ["bench", "train", "--rounds", "2", "--seconds", "0.01"]

PEER = """
import json, sys, time
assert sys.argv[1] == "--plan"
plan = json.loads(sys.argv[2])
{say}
for line in sys.stdin:
    print(json.dumps({{"decisions": 100 if plan["vector"] else 10 * plan["threads"], "seconds": 0.5}}), flush=True)
"""


@pytest.fixture
def peers(tmp_path, monkeypatch):
    """A folder with a peer of our own, and a preset that is trained in no time."""
    preset = find_preset("mario")
    small = type(preset.collection)(num_lanes=4, horizon_steps=8)
    monkeypatch.setattr(bench_train, "find_preset", lambda name: type(preset)(**{**vars(preset), "collection": small}))
    monkeypatch.setattr(training, "resolve_threads", lambda threads: threads or 2)

    def write(say):
        (tmp_path / "train_sb3.py").write_text(PEER.format(say=say))
        return [*FAST, "--peers", str(tmp_path)]

    return write


def test_json_has_both_and_their_ratio(respawn, peers):
    measured = json.loads(respawn(*peers("print('ready', flush=True)"), "--json").out)
    ours = measured["decisions_per_second"]
    assert ours > 0 and measured["lanes"] == 4 and measured["rounds"] == 2
    # The faster of one thread and two is what counts.
    assert measured["peers"]["sb3"]["by_threads"] == {"1": 20.0, "2": 40.0}
    assert measured["peers"]["sb3"]["decisions_per_second"] == 40.0 and measured["peers"]["sb3"]["threads"] == 2
    assert measured["peers"]["sb3"]["ratio"] == pytest.approx(ours / 40)
    assert measured["peers"]["sb3_vector"]["ratio"] == pytest.approx(ours / 200)
    phases = measured["update_milliseconds"]
    assert phases["update"] == pytest.approx(sum(value for name, value in phases.items() if name != "update"))


def test_table_fits_eighty_columns(respawn, peers, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*peers("print('ready', flush=True)"))
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert any(line and line.split()[0] == "Stable-Baselines3" for line in lines)


def test_without_the_peer_only_we_are_measured(respawn, peers):
    answer = respawn(*peers("print('missing stable_baselines3', flush=True); sys.exit()"), "--json")
    assert json.loads(answer.out)["peers"] == {}
    assert "stable_baselines3 is not installed, so only we are measured; 'make setup' installs it" in answer.err


def test_a_peer_that_fails_is_left_out(respawn, peers):
    say = "if plan['vector']: sys.exit('out of sorts')\nprint('ready', flush=True)"
    answer = respawn(*peers(say), "--json")
    assert list(json.loads(answer.out)["peers"]) == ["sb3"]
    assert "the peer sb3_vector is left out: it ended with exit code 1: out of sorts" in answer.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--preset", "marioo"], "there is no preset 'marioo'"),
        (["--preset", "cartpole-ppo"], "'respawn bench train' compares trainings on Mario's tiles"),
        (["--preset", "mario-vtrace"], "'respawn bench train' compares PPO with plain layers"),
        (["--rounds", "0"], "--rounds must be at least 1, not 0"),
        (["--seconds", "0"], "--seconds must be above 0, not 0.0"),
        (["--peers", "/"], "--peers wants the folder that train_sb3.py is in"),
        (["--peers-python", "no-such-python"], "--peers-python wants a Python"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence):
    answer = respawn("bench", "train", *words)
    assert answer.exit_code == 2 and answer.err.splitlines()[-1].startswith(f"respawn: {sentence}")


def test_the_peer_is_told_all_that_we_go_by():
    config = find_preset("mario")
    plan = json.loads(json.dumps(peer_plan(config, vector=False, threads=1)))
    assert plan["world"]["levels"] == list(config.world.levels) and plan["world"]["start_jitter"] == 16
    assert plan["hidden_sizes"] == list(config.model.hidden_sizes)
    assert plan["ppo"]["learning_rate"] == config.learner.optimizer.learning_rate


@pytest.mark.parametrize("vector", [False, True])
def test_the_real_peer_trains(respawn, vector):
    pytest.importorskip("stable_baselines3", reason="make setup installs it")
    from respawn.worlds.mario.measure_peers import Peer

    plan = {**peer_plan(find_preset("mario"), vector=vector, threads=1), "lanes": 4, "horizon": 32}
    script = default_peers() / "train_sb3.py"
    with Peer(script, ["--plan", json.dumps(plan)], sys.executable) as peer:
        assert peer.run(0.01).count == 128
