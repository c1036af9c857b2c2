import json
import sys
from dataclasses import replace

import pytest

from respawn.errors import WorldError
from respawn.models.config import ModelConfig
from respawn.presets import find_preset
from respawn.training import bench_peer
from respawn.training.bench_peer import SCRIPT, PeerCase, peer_entries, peer_plan, why_alone
from respawn.training.bench_process import CaseMissingError
from respawn.worlds.mario.measure_engine import default_peers
from the_game import needed_rom

MARIO = find_preset("mario")
PEER = """
import json, sys
plan = json.loads(sys.argv[2])
assert sys.argv[1] == "--plan"
{say}
for line in sys.stdin:
    print(json.dumps({{"decisions": 10 * plan["threads"], "seconds": 0.5, "cpu_seconds": 0.25}}), flush=True)
"""


def peer_that(tmp_path, say):
    script = tmp_path / SCRIPT
    script.write_text(PEER.format(say=say))
    return script


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (MARIO, ""),
        (find_preset("cartpole-ppo"), "it does not see Mario's tiles"),
        (find_preset("mario-pixels"), "it does not see Mario's tiles"),
        (find_preset("mario-vtrace"), "its learner is not PPO"),
        (replace(MARIO, model=ModelConfig(core="gru", core_size=8)), "its network is more than plain layers"),
        (replace(MARIO, model=ModelConfig(separate_value=True)), "its network is more than plain layers"),
        (replace(MARIO, collection=replace(MARIO.collection, lag=1)), "it collects beside learning"),
    ],
)
def test_what_it_cannot_do_it_is_not_compared_with(config, reason):
    assert why_alone(config) == reason


def test_it_is_told_all_that_we_go_by():
    collection = replace(MARIO.collection, num_lanes=3, horizon_steps=5)
    plan = json.loads(json.dumps(peer_plan(MARIO, collection, vector=False, threads=1)))
    assert plan["world"]["levels"] == list(MARIO.world.levels) and plan["world"]["start_jitter"] == 16
    assert plan["hidden_sizes"] == list(MARIO.model.hidden_sizes) and (plan["lanes"], plan["horizon"]) == (3, 5)
    assert plan["ppo"]["learning_rate"] == MARIO.learner.optimizer.learning_rate


def test_it_trains_with_one_thread_and_with_one_a_core_in_both_its_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_peer, "resolve_threads", lambda threads: 4)
    peer_that(tmp_path, "print('ready', flush=True)")
    entries = peer_entries(MARIO, MARIO.collection, 0.1, tmp_path, sys.executable)
    assert [(entry.facts["mode"], entry.threads) for entry in entries] == [
        *(("sb3", 1), ("sb3", 4), ("sb3_vector", 1), ("sb3_vector", 4)),
    ]
    case = entries[1].make()
    turn = case.turn()
    case.close()
    # By its own clock.
    assert (turn["decisions"], turn["seconds"], turn["cpu_seconds"]) == (40, 0.5, 0.25) and turn["others_cores"] >= 0


@pytest.mark.parametrize(
    ("say", "kind", "words"),
    [
        ("print('missing gold', flush=True); sys.exit()", CaseMissingError, "^gold$"),
        ("sys.exit('out of sorts')", WorldError, "^the peer ended with exit code 1: out of sorts$"),
    ],
)
def test_what_becomes_of_one_that_does_not_begin(tmp_path, say, kind, words):
    script = peer_that(tmp_path, say)
    with pytest.raises(kind, match=words):
        PeerCase(script, json.dumps({"threads": 1}), sys.executable, 1, 0.1)


def test_one_that_ends_meanwhile_fails(tmp_path):
    script = peer_that(tmp_path, "print('ready', flush=True); sys.stdin.readline(); sys.exit('enough')")
    case = PeerCase(script, json.dumps({"threads": 1}), sys.executable, 1, 0.1)
    with pytest.raises(WorldError, match="the peer ended with exit code 1: enough"):
        case.turn()
    case.close()


@pytest.mark.parametrize("vector", [False, True])
def test_the_real_one_trains(vector):
    pytest.importorskip("stable_baselines3", reason="make setup installs it")
    needed_rom()
    collection = replace(MARIO.collection, num_lanes=4, horizon_steps=32)
    told = json.dumps(peer_plan(MARIO, collection, vector=vector, threads=1))
    case = PeerCase(default_peers() / SCRIPT, told, sys.executable, 1, 0.01)
    assert case.turn()["decisions"] == 128
    case.close()
