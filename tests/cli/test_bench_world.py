import json
import textwrap

import pytest
import torch

from bench_cases import measure_here, read_csv
from the_game import needed_rom

FAST = ["--rounds", "2", "--seconds", "0.01"]


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    measure_here(monkeypatch)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_lanes_are_measured_each_by_itself_and_files_are_written(respawn, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    files = ["--csv", str(tmp_path / "a.csv"), "--markdown", str(tmp_path / "a.md")]
    answer = respawn("bench", "world", "CartPole-v1", "--lanes", "1", "3", *FAST, *files)
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and lines[0] == "CartPole-v1 on cpu: 2 turns of 0.01 s"
    assert lines[1].split() == ["mode", "lanes", "decisions/s", "frames/s", "spread"]
    rows = read_csv(tmp_path / "a.csv")
    assert [(row["of"], row["num_envs"], row["rollout"]) for row in rows] == [
        *(("CartPole-v1", "1", ""), ("CartPole-v1", "3", "")),
    ]
    assert float(rows[1]["steps_per_sec_mean"]) > 0
    assert (tmp_path / "a.md").read_text().startswith("# World: CartPole-v1 on cpu: 2 turns of 0.01 s\n")


def test_mario_is_seen_in_both_ways(respawn):
    needed_rom()
    answer = respawn("bench", "world", "mario", "--lanes", "2", *FAST, "--json")
    measured = json.loads(answer.out)
    assert [(row["mode"], row["num_envs"]) for row in measured["rows"]] == [("tiles", 2), ("pixels", 2)]
    assert all(row["frames_per_sec"] == pytest.approx(4 * row["steps_per_sec_mean"]) for row in measured["rows"])


def test_fish_are_beside_the_plain_program(respawn, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = ["bench", "world", "--fish", "5", "--schools", "4", *FAST]
    answer = respawn(*words, "--csv", str(tmp_path / "a.csv"))
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and max(map(len, lines)) <= 80
    assert lines[3].startswith("schools of 5") and lines[4].endswith("1.00")
    assert [(row["mode"], row["num_envs"]) for row in read_csv(tmp_path / "a.csv")] == [
        *(("respawn", "20"), ("one by one", "5")),
    ]
    measured = json.loads(respawn(*words, "--no-reference", "--json").out)
    assert measured["sizes"]["5"]["schools"] == 4 and len(measured["rows"]) == 1


def test_modules_that_register_an_environment_are_imported_first(respawn, tmp_path, monkeypatch):
    source = """
        import gymnasium
        gymnasium.register("OnlyHere-v0", entry_point="gymnasium.envs.classic_control:CartPoleEnv")
    """
    (tmp_path / "registers_only_here.py").write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    words = ["bench", "world", "OnlyHere-v0", "--lanes", "2", *FAST, "--json"]
    answer = respawn(*words, "--imports", "registers_only_here")
    assert answer.exit_code == 0 and json.loads(answer.out)["rows"][0]["steps_per_sec_mean"] > 0
    answer = respawn(*words, "--imports", "registers_nothing_at_all")
    assert answer.exit_code == 2 and "cannot import 'registers_nothing_at_all'" in answer.sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["CartPole-v9"], "no environment is registered as 'CartPole-v9'"),
        (["mario", "--lanes", "0"], "--lanes must be at least 1, not 0"),
        (["fish", "--fish", "0"], "--fish must be at least 1, not 0"),
        (["fish", "--fish"], "--fish wants at least one, and nothing came"),
        (["mario", "--observation"], "--observation wants at least one, and nothing came"),
        (["fish", "--lanes", "8"], "--lanes is for mario and other worlds, and 'fish' came; leave it out"),
        (["mario", "--schools", "2"], "--schools is for fish, and 'mario' came; leave it out"),
        (["mario", "--workers", "2"], "--workers is for other worlds, and 'mario' came; leave it out"),
        (["--rounds", "0"], "--rounds must be at least 1, not 0"),
        (["--seconds", "0"], "--seconds must be above 0, not 0.0"),
        (["--seconds", "1801"], "--seconds must be from 0 to 1,800, not 1801.0"),
        (["--markdown", "."], "--markdown wants a file for the results, and . is a folder"),
        (["CartPole-v1", "--device", "abacus"], "--device must be auto, cpu, cuda or cuda:N, not 'abacus'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence):
    answer = respawn("bench", "world", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
