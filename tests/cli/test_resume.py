import json
import shutil

import pytest

from respawn.runs.layout import RunFolder


def shown(respawn, name):
    return json.loads(respawn("runs", "show", name, "--json").out)


def test_goes_on_to_a_new_limit(respawn, runs):
    answer = respawn("resume", "pole", "--updates", "4")
    assert answer.exit_code == 0 and "in 4 updates." in answer.out
    assert shown(respawn, "pole")["updates"] == 4


def test_without_a_name_says_which_run_and_why(respawn, runs):
    answer = respawn("resume", "--preset", "cartpole-ppo", "--updates", "4")
    assert answer.exit_code == 0
    assert answer.out.startswith("resuming pole: the newest run that can go on")


def test_nothing_left_to_do_is_said(respawn, runs):
    answer = respawn("resume")
    assert answer.exit_code == 2 and answer.sentence.startswith("nothing to resume in runs: ")
    assert "pole (is finished at update 3 of 3)" in answer.sentence
    assert respawn("resume", "--runs", "nowhere").sentence.startswith("nothing to resume in nowhere: it holds no runs")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pol"], "there is no run 'pol' in runs; did you mean pole?"),
        (["pole", "--preset", "cartpole-ppo"], "--preset narrows the search for a run and makes no sense beside"),
        (["--preset", "cartpole"], "there is no preset 'cartpole'"),
        (["pole", "--updates", "0"], "--updates must be at least 1, not 0"),
        (["pole", "--minutes", "-1"], "--minutes must be above 0, not -1.0"),
        (["pole", "--seed", "3"], "there is no option --seed for 'respawn resume'"),
        (["pole", "--device", "toaster"], "--device must be auto, cpu, cuda or cuda:N, not 'toaster'"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(respawn, runs, words, sentence):
    before = (runs / "pole/config.json").read_text()
    answer = respawn("resume", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
    assert (runs / "pole/config.json").read_text() == before


def test_a_run_in_use_is_left_alone(respawn, runs):
    with RunFolder(runs / "pole").lock():
        answer = respawn("resume", "pole", "--updates", "5")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("run pole is in use by process ") and "wait for it" in answer.sentence


@pytest.mark.parametrize("verb", ["resume", "evaluate"])
def test_a_checkpoint_of_another_world_is_refused(respawn, runs, verb):
    checkpoints = runs / "pole/checkpoints"
    shutil.rmtree(checkpoints)
    shutil.copytree(runs / "recall/checkpoints", checkpoints)
    answer = respawn(verb, "pole")
    assert answer.exit_code == 2
    assert "is of another world: it was made in recall" in answer.sentence and "CartPole-v1" in answer.sentence


@pytest.mark.parametrize("verb", ["resume", "evaluate"])
@pytest.mark.parametrize(
    ("find", "put", "sentence"),
    [
        ('"seed": 0', '"seed": 0, "colour": 3', "runs/pole/config.json cannot be used (config.json does not fit"),
        ('"seed": 0', '"seed": "x"', "runs/pole/config.json cannot be used (config.json does not fit"),
        ('"seed": 0', '"seed": -1', "runs/pole/config.json cannot be used (--seed must be 0 or more, not -1); restore"),
        ("{", "", "runs/pole cannot be used as a run: runs/pole/config.json should hold JSON"),
    ],
)
def test_a_corrupt_configuration_is_named(respawn, runs, verb, find, put, sentence):
    config = runs / "pole/config.json"
    config.write_text(config.read_text().replace(find, put, 1))
    answer = respawn(verb, "pole")
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


@pytest.mark.parametrize("words", [["resume", "pole"], ["evaluate", "pole"], ["runs", "show", "pole"]])
def test_a_folder_without_meta_is_no_run(respawn, runs, words):
    (runs / "pole/meta.json").unlink()
    answer = respawn(*words)
    assert answer.exit_code == 2
    assert (
        answer.sentence
        == "runs/pole cannot be used as a run: meta.json is missing from runs/pole; is this a run folder?"
    )
