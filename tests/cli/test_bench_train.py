import json

import pytest
import torch

from bench_cases import measure_here, read_csv
from respawn.training import bench_peer
from the_game import needed_rom

FAST = ["bench", "train", "--rounds", "2", "--seconds", "0.01", "--device", "cpu"]
SMALL = ["--lanes", "4", "--horizon", "8"]
QUICK = ["--", "--threads", "1", "--observers.no-tensorboard"]
PEER = """
import json, sys, time
assert sys.argv[1] == "--plan"
plan = json.loads(sys.argv[2])
{say}
for line in sys.stdin:
    print(json.dumps({{"decisions": 100 if plan["vector"] else 10 * plan["threads"], "seconds": 0.5}}), flush=True)
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    measure_here(monkeypatch)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def peers(tmp_path, monkeypatch):
    """Words that measure mario beside a peer of our own."""
    needed_rom()
    monkeypatch.setattr(bench_peer, "resolve_threads", lambda threads: threads or 2)

    def write(say="print('ready', flush=True)"):
        (tmp_path / "train_sb3.py").write_text(PEER.format(say=say))
        return [*FAST, *SMALL, "--peers", str(tmp_path)]

    return write


def test_json_has_both_and_their_ratio(respawn, peers):
    measured = json.loads(respawn(*peers(), "--json", *QUICK).out)
    ours = measured["decisions_per_second"]
    assert ours > 0 and measured["preset"] == "mario" and (measured["lanes"], measured["rounds"]) == (4, 2)
    # The faster of one thread and two is what counts.
    assert measured["peers"]["sb3"]["by_threads"] == {"1": 20.0, "2": 40.0}
    assert measured["peers"]["sb3"]["decisions_per_second"] == 40.0 and measured["peers"]["sb3"]["threads"] == 2
    assert measured["peers"]["sb3"]["ratio"] == pytest.approx(ours / 40)
    assert measured["peers"]["sb3_vector"]["ratio"] == pytest.approx(ours / 200)
    phases = measured["update_milliseconds"]
    assert phases["update"] == pytest.approx(sum(value for name, value in phases.items() if name != "update"))


def test_the_table_fits_eighty_columns_and_files_are_written(respawn, peers, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*peers(), "--csv", str(tmp_path / "a.csv"), "--markdown", str(tmp_path / "a.md"), *QUICK)
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and max(map(len, lines)) <= 80 and "…" not in answer.out
    assert lines[0] == "mario: 2 turns of 0.01 s" and lines[3].startswith("respawn  ") and lines[4].endswith("1.00")
    assert any(line.startswith("respawn learns ") and line.endswith(" as Stable-Baselines3") for line in lines)
    assert lines[-1].startswith("milliseconds an update: act ")
    rows = read_csv(tmp_path / "a.csv")
    assert [(row["mode"], row["num_envs"], row["rollout"]) for row in rows] == [
        *(("respawn", "4", "8"), ("sb3", "4", "8"), ("sb3_vector", "4", "8")),
    ]
    assert "| mario | sb3_vector |" in (tmp_path / "a.md").read_text()


def test_without_the_peer_only_we_are_measured(respawn, peers):
    answer = respawn(*peers("print('missing stable_baselines3', flush=True); sys.exit()"), "--json", *QUICK)
    assert answer.exit_code == 0 and json.loads(answer.out)["peers"] == {}
    assert "stable_baselines3 is not installed, so only we are measured; 'make setup' installs it" in answer.err


def test_a_peer_that_fails_is_a_row_with_its_error(respawn, peers):
    say = "if plan['vector']: sys.exit('out of sorts')\nprint('ready', flush=True)"
    answer = respawn(*peers(say), "--json", *QUICK)
    measured = json.loads(answer.out)
    assert answer.exit_code == 1 and list(measured["peers"]) == ["sb3"]
    assert "respawn: mario sb3_vector 4 x 8 failed: the peer ended with exit code 1: out of sorts" in answer.err


def test_presets_and_sizes_make_a_matrix(respawn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = [*FAST, "cartpole-ppo", "cartpole-vtrace", "--lanes", "1", "2", "--horizon", "8"]
    answer = respawn(*words, *QUICK)
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and max(map(len, lines)) <= 80 and "…" not in answer.out
    found = [line.split()[:4] for line in lines if line.startswith("cartpole")][1:]
    assert found == [
        *(["cartpole-ppo", "respawn", "1", "8"], ["cartpole-ppo", "respawn", "2", "8"]),
        *(["cartpole-vtrace", "respawn", "1", "8"], ["cartpole-vtrace", "respawn", "2", "8"]),
    ]
    assert "respawn: cartpole-ppo is measured without a peer: it does not see Mario's tiles\n" in answer.err


def test_peers_can_be_left_out(respawn):
    answer = respawn(*FAST, "cartpole-ppo", *SMALL, "--no-peers", "--json", *QUICK)
    assert answer.exit_code == 0 and "peer" not in answer.err and json.loads(answer.out)["peers"] == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["marioo"], "there is no preset 'marioo'"),
        (["cartpole-ppo", "marioo"], "there is no preset 'marioo'"),
        (["--rounds", "0"], "--rounds must be at least 1, not 0"),
        (["--seconds", "0"], "--seconds must be above 0, not 0.0"),
        (["--lanes", "0"], "--lanes must be at least 1, not 0"),
        (["--peers", "/"], "--peers wants the folder that train_sb3.py is in"),
        (["--peers-python", "no-such-python"], "--peers-python wants a Python"),
        (["--csv", "/proc/no/a.csv"], "--csv wants a file for the results"),
        (
            ["cartpole-ppo", "--", "--model.cor", "gru"],
            "there is no option --model.cor for 'respawn train",
        ),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence):
    answer = respawn("bench", "train", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
