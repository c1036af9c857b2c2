import json

import pytest


def test_json_says_who_was_judged_and_how(respawn, runs):
    words = ["evaluate", "pole", "--episodes", "4", "--seed-base", "77", "--json"]
    judged = json.loads(respawn(*words).out)
    assert (judged["run"], judged["episodes"], judged["seed_base"], judged["updates"]) == ("pole", 4, 77, 3)
    assert len(judged["returns"]) == len(judged["lengths"]) == 4
    assert judged["weights_sha256"] == json.loads(respawn("runs", "show", "pole", "--json").out)["weights_sha256"]
    assert json.loads(respawn(*words).out) == judged  # the same seeds give the same episodes
    assert json.loads(respawn(*words, "--lanes", "1").out)["returns"] == judged["returns"]


def test_a_table_for_people_fits_eighty_columns(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("evaluate", "pole", "--episodes", "4", "--checkpoint", "u00000000", "--sampled")
    assert answer.exit_code == 0
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert lines[0] == "pole: 4 episodes" and "policy         sampled, checkpoint u00000000" in lines
    assert "seeds          3000000 to 3000003" in lines
    assert max(map(len, lines)) <= 80


def test_of_one_episode_no_interval_is_said(respawn, runs):
    assert "95 % interval" in respawn("evaluate", "pole", "--episodes", "2").out
    answer = respawn("evaluate", "pole", "--episodes", "1")
    assert answer.exit_code == 0 and "return " in answer.out and "95 %" not in answer.out
    judged = json.loads(respawn("evaluate", "pole", "--episodes", "1", "--json").out)
    assert judged["return_low"] is judged["return_high"] is None and judged["return_mean"] == judged["returns"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn evaluate' wants RUN, and nothing came"),
        (["xyz"], "there is no run 'xyz' in "),
        (["pole", "--episodes", "0"], "--episodes must be at least 1, not 0"),
        (["pole", "--lanes", "0"], "--lanes must be at least 1, not 0"),
        (["pole", "--seed-base", "-1"], "--seed-base must be at least 0, not -1"),
        (["pole", "--episodes", "ten"], "--episodes wants a whole number, but 'ten' came"),
        (["pole", "--checkpoint", "u7"], "run pole has no checkpoint 'u7'"),
        (["pole", "--device", "cuda:99"], "--device cuda:99: there is no such GPU here"),
        (["pole", "recall"], "'respawn evaluate' has no use for the word 'recall'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, runs, words, sentence):
    answer = respawn("evaluate", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_seeds_that_judged_the_run_while_it_learned_are_refused(respawn, runs, tiny):
    watched = ["--evaluation.every-updates", "1", "--evaluation.episodes", "2", "--evaluation.num-lanes", "2"]
    assert respawn("train", "cartpole-ppo", "--updates", "1", "--name", "new", *tiny, *watched).exit_code == 0
    answer = respawn("evaluate", "new", "--seed-base", "1000001")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("fresh seeds are wanted, and of 1000001 to 1000100, some are among those that")
    assert respawn("evaluate", "new", "--seed-base", "1000002", "--episodes", "2").exit_code == 0


def test_a_damaged_checkpoint_that_was_asked_for_is_named(respawn, runs):
    (runs / "pole/checkpoints/u00000003/weights.safetensors").write_bytes(b"")
    answer = respawn("evaluate", "pole", "--checkpoint", "u00000003")
    assert answer.exit_code == 2
    assert answer.sentence.startswith(
        "the checkpoint asked for in runs/pole/checkpoints is damaged (u00000003: weights."
    )
