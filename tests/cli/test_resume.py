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
    assert answer.exit_code == 2 and answer.sentence.startswith(f"nothing to resume in {runs.absolute()}: ")
    assert "pole (is finished at update 3 of 3)" in answer.sentence
    nowhere = respawn("resume", "--runs", "nowhere").sentence
    assert nowhere.startswith(
        f"nothing to resume in {runs.absolute().parent / 'nowhere'}: it holds no runs. Begin a run with"
    )
    assert nowhere.endswith("--runs DIR")


def test_shipped_weights_cannot_be_resumed(respawn, runs):
    answer = respawn("resume", "mario")
    assert answer.exit_code == 2 and answer.sentence.startswith(
        f"there is no run 'mario' in {runs.absolute()}, and the weights"
    )
    assert answer.sentence.endswith("cannot be resumed; begin a run with: respawn train mario")


def test_a_run_that_reached_its_goal_is_finished_until_it_is_given_new_limits(respawn, runs, tiny):
    goal = ["--evaluation.every-updates", "1", "--evaluation.stop-at", "1", "--evaluation.stop-after", "2"]
    trained = respawn("train", "cartpole-ppo", "--updates", "9", "--name", "good", *tiny, *goal)
    assert trained.exit_code == 0 and "in 2 updates, where its goal was reached." in trained.out
    assert trained.out.endswith("Go on:      respawn resume good --updates 9\n")
    events = [json.loads(line) for line in (runs / "good/events.jsonl").read_text().splitlines()]
    told = {event["kind"]: event["message"] for event in events}
    assert told["goal_reached"] == "goal reached at update 2: evaluation/return_mean of at least 1, 2 times in a row"
    answer = respawn("resume", "good")
    assert answer.exit_code == 0
    assert answer.out == (
        "Run good is finished at update 2, where its goal was reached; give a higher --updates to go on.\n"
    )
    assert "good (is finished at update 2, where its goal" in respawn("resume").sentence
    assert "resume good --updates 9" in respawn("runs", "show", "good").out
    assert respawn("resume", "good", "--updates", "4").exit_code == 0
    assert shown(respawn, "good")["updates"] == 4
    assert json.loads((runs / "good/config.json").read_text())["evaluation"]["stop_at"] is None
    assert '"goal_lifted"' in (runs / "good/events.jsonl").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pol"], "there is no run 'pol' in "),
        (["pole", "--preset", "cartpole-ppo"], "--preset narrows the search for a run and makes no sense beside"),
        (["--preset", "cartpole"], "there is no preset 'cartpole'"),
        (["pole", "--updates", "0"], "--updates must be at least 1, not 0"),
        (["pole", "--minutes", "-1"], "--minutes must be above 0, not -1.0"),
        (["pole", "--minutes", "nan"], "--minutes must be above 0 and finite, not nan"),
        (["pole", "--minutes", "1e9"], "--minutes must be from 0 to 10,000,000"),
        (["pole", "--updates", "2"], "run pole is finished at update 3, past 2: limits count from the beginning"),
        (["pole", "--minutes", "9"], "run pole is finished at update 3 of 3: limits count from the beginning"),
        (["pole", "--updates", "9", "--minutes", "1e-9"], "run pole is finished after "),
        (["pole", "--updates", "4", "--rom", "x.nes"], "--rom names Mario's game, and this run is of another world"),
        (["pole", "--seed", "3"], "there is no option --seed for 'respawn resume'"),
        (
            ["pole", "--updates", "4", "--device", "toaster"],
            "--device must be auto, cpu, cuda or cuda:N, not 'toaster'",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(respawn, runs, words, sentence):
    before = (runs / "pole/config.json").read_text()
    answer = respawn("resume", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
    assert (runs / "pole/config.json").read_text() == before


@pytest.mark.parametrize("words", [[], ["--updates", "3"]])
def test_a_finished_run_is_left_as_it_is(respawn, runs, words):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file() and not path.match("run.lock*")}
    answer = respawn("resume", "pole", *words)
    assert (answer.exit_code, answer.err) == (0, "")
    assert answer.out == "Run pole is finished at update 3 of 3; give a higher --updates to go on.\n"
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_run_whose_time_is_up_is_finished_too(respawn, runs, tiny):
    respawn("train", "cartpole-ppo", "--name", "short", "--minutes", "1e-6", *tiny)
    answer = respawn("resume", "short")
    assert answer.exit_code == 0 and answer.out.startswith("Run short is finished after ")
    assert answer.out.endswith(" of 1e-06 minutes; give a higher --minutes to go on.\n")
    answer = respawn("resume", "short", "--updates", "9")
    assert answer.exit_code == 2 and answer.sentence.endswith("; give a higher --minutes")
    assert "short (is finished after " in respawn("resume").sentence


def test_a_run_that_was_killed_after_its_last_update_gets_its_end(respawn, runs):
    (runs / "pole/status.json").unlink()
    answer = respawn("resume", "pole")
    assert answer.exit_code == 0 and "in 3 updates." in answer.out
    assert shown(respawn, "pole")["status"] == "finished"


@pytest.mark.parametrize("words", [["resume", "pole", "--updates", "4"], ["runs", "show", "pole"]])
def test_a_folder_in_the_place_of_a_stream_is_one_sentence(respawn, runs, words):
    (runs / "pole/updates.jsonl").unlink()
    (runs / "pole/updates.jsonl").mkdir()
    answer = respawn(*words)
    assert answer.exit_code == 2 and answer.sentence.startswith("runs/pole/updates.jsonl cannot be ")
    assert "(Is a directory); it should be a file" in answer.sentence


def test_a_flipped_bit_in_the_rows_is_one_sentence_until_the_file_is_put_back(respawn, runs):
    rows = runs / "pole/updates.jsonl"
    sound = rows.read_bytes()
    damaged = bytearray(sound)
    damaged[-3] ^= 1  # in the last row
    rows.write_bytes(damaged)
    for _ in range(2):
        answer = respawn("resume", "pole", "--updates", "4")
        assert answer.exit_code == 2 and answer.sentence.startswith("runs/pole/updates.jsonl was changed: ")
        assert rows.read_bytes() == damaged
    rows.write_bytes(sound)
    assert respawn("resume", "pole", "--updates", "4").exit_code == 0


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
        (
            '"seed": 0',
            '"seed": -1',
            "runs/pole/config.json cannot be used (--seed must be at least 0, not -1); restore",
        ),
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
