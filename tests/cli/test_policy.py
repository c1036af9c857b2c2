"""respawn policy: one episode step by step, and ways to play compared."""

import csv
import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def mario(runs, jumper):
    """The runs that commands look at, with the Mario run among them."""
    shutil.copytree(jumper / "jumper", Path("runs/jumper"))


def test_an_episode_is_shown_step_by_step_and_summed_up(respawn, runs):
    answer = respawn("policy", "pole", "--steps", "3", "--limit-steps", "5")
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and answer.err == ""
    assert lines[0] == "run pole, checkpoint u00000003, seed 3000000, the likeliest actions: the first 3 of 5 steps"
    assert lines[1].split() == ["step", "action", "likeliest,", "in", "%", "entropy", "value", "reward"]
    assert [line.split()[0] for line in lines[3:6]] == ["0", "1", "2"] and lines[6] == "all 5 steps"
    assert "episode  return 5.00 after 5 steps (evaluation limit)" in lines
    assert any(line.startswith("entropy  0.") and "of the greatest possible, 0.69" in line for line in lines)
    assert any(line.startswith("cut      it did not end by itself") for line in lines)
    assert "correlation" in answer.out and "the likeliest action had over 90 % in" in answer.out


def test_a_table_fits_eighty_columns(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["pole", "--steps", "3"], ["pole", "--compare", "--episodes", "2", "--limit-steps", "9"]):
        answer = respawn("policy", *words)
        assert answer.exit_code == 0 and max(len(line.rstrip()) for line in answer.out.splitlines()) <= 80
        assert "…" not in answer.out, "nothing is cut off"


def test_json_and_csv_hold_every_step(respawn, runs):
    answer = respawn("policy", "pole@u00000000", "--sampled", "--seed", "7", "--json", "--csv", "new/steps.csv")
    said = json.loads(answer.out)
    assert (said["run"], said["checkpoint"], said["seed"], said["greedy"]) == ("pole", "u00000000", 7, False)
    assert len(said["steps"]) == said["outcome"]["steps"] == said["summary"]["decisions"]
    assert said["outcome"]["return"] == pytest.approx(sum(step["reward"] for step in said["steps"]))
    rows = list(csv.DictReader(Path("new/steps.csv").read_text().splitlines()))
    assert [row["action"] for row in rows] == [step["action"] for step in said["steps"]]
    assert [float(row["p_0"]) for row in rows] == [step["probabilities"]["0"] for step in said["steps"]]
    again = respawn("policy", "pole", "--checkpoint", "u00000000", "--sampled", "--seed", "7", "--json")
    assert json.loads(again.out) == said, "the same episode"


def test_what_is_remembered_counts(respawn, runs):
    said = json.loads(respawn("policy", "recall", "--json").out)
    blanks = [step["value"] for step in said["steps"][2:5]]
    assert len(set(blanks)) == 3, "the same is seen in each of these steps, and something else is thought"


def test_mario_is_told_by_name_and_place(respawn, mario):
    words = ["policy", "jumper", "--limit-steps", "6", "--start-jitter", "0"]
    said = json.loads(respawn(*words, "--json").out)
    first = said["steps"][0]
    assert (first["x"], first["level"], first["time"]) == (40, "1-1", 400) and first["action"] in first["probabilities"]
    assert first["held"] == first["action"] and "RIGHT+A+B" in first["probabilities"]
    shown = respawn(*words, "--figure", "thoughts.png").out
    assert "   x   action" in shown and " level " not in shown.splitlines()[1]
    assert Path("thoughts.png").stat().st_size > 20_000
    sticky = json.loads(respawn(*words, "--sampled", "--sticky", "0.9", "--json").out)
    assert any(step["held"] != step["action"] for step in sticky["steps"]), "what is decided need not be what is held"


def test_ways_are_compared_side_by_side(respawn, mario):
    words = ["policy", "jumper", "--compare", "--episodes", "2", "--limit-steps", "8"]
    said = json.loads(respawn(*words, "--json", "--temperatures", "0.25,4").out)
    assert said["measure"] == "cleared" and said["seeds"] == {"1-1": [4_000_000, 4_000_001]}
    assert list(said["ways"]) == ["greedy", "sampled", "temperature 0.25", "temperature 4", "always_right", "random"]
    assert said["ways"]["greedy"]["interval"] == pytest.approx([0.0, 0.6576], abs=1e-3)
    lines = respawn(*words).out.splitlines()
    assert lines[0].rstrip() == "run jumper, checkpoint u00000001: 2 episodes, each way"
    assert lines[1].split() == ["policy", "cleared", "95", "%", "x", "return", "steps", "different"]
    assert [line.split("  ")[0] for line in lines[3:9]] == [
        *("greedy", "sampled", "temperature 0.5", "temperature 2", "always right", "random"),
    ]
    assert lines[3].split()[1:3] == ["0/2", "0-66"]


def test_of_one_episode_no_interval_is_said(respawn, runs):
    words = ["policy", "pole", "--compare", "--episodes", "1", "--limit-steps", "8"]
    answer = respawn(*words)
    assert answer.exit_code == 0 and " to " not in answer.out.partition("columns")[0]
    ways = json.loads(respawn(*words, "--json").out)["ways"]
    assert all(numbers["return_low"] is numbers["return_high"] is None for numbers in ways.values())


def test_a_damaged_checkpoint_is_passed_over_and_said(respawn, runs):
    (runs / "pole/checkpoints/u00000003/weights.safetensors").write_bytes(b"")
    answer = respawn("policy", "pole", "--limit-steps", "2")
    assert answer.exit_code == 0 and "checkpoint u00000000" in answer.out
    assert answer.sentence.startswith("passed over a damaged checkpoint, u00000003: weights.safetensors")
    best = respawn("policy", "pole@best", "--limit-steps", "2")
    assert best.exit_code == 0 and best.sentence == answer.sentence
    asked = respawn("policy", "pole@u00000003")
    assert asked.exit_code == 2 and "the checkpoint asked for in runs/pole/checkpoints is damaged" in asked.sentence


def test_a_run_that_saved_nothing_has_no_policy(respawn, runs):
    shutil.rmtree(runs / "pole/checkpoints")
    assert respawn("policy", "pole").sentence == "run pole has no checkpoint; train it first"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn policy' wants RUN, and nothing came"),
        (["xyz"], "there is no run 'xyz' in "),
        (["pole@"], "'respawn policy' wants RUN, RUN@best or a checkpoint as RUN@u00000100, not 'pole@'"),
        (["pole@u7"], "run pole has no checkpoint 'u7'"),
        (["pole@best", "--checkpoint", "u00000000"], "'pole@best' and --checkpoint u00000000 both name a checkpoint"),
        (["pole", "--compare", "--temperatures", "0"], "--temperatures must be above 0 and finite, not 0: 1 is the"),
        (["pole", "--compare", "--temperatures", "-2"], "--temperatures must be above 0 and finite, not -2"),
        (["pole", "--compare", "--temperatures", "warm"], "--temperatures wants a number, or several, but 'warm' came"),
        (["pole", "--temperatures", "2"], "--temperatures has an effect with --compare only; add --compare, or leave"),
        (["pole", "--episodes", "2"], "--episodes has an effect with --compare only"),
        (["pole", "--compare", "--figure", "x.png"], "--figure has an effect with a single episode only; leave out"),
        (["pole", "--compare", "--sampled"], "--sampled has an effect with a single episode only"),
        (["pole", "--steps", "0"], "--steps must be at least 1, not 0"),
        (["pole", "--figure", "x.jpg"], "a figure is written as .png or .svg, and 'x.jpg' came"),
        (["pole", "--csv", "."], "--csv wants a file for the results, and . is a folder"),
        (["pole", "--csv", "/proc/x.csv"], "--csv wants a file for the results, and /proc/x.csv cannot be written ("),
        (["pole", "--figure", "/proc/x.png"], "/proc/x.png cannot be written ("),
        (["pole", "--fish", "3"], "--fish is for runs in the fish world, and pole is in another one"),
        (["pole", "--follow", "3"], "--follow is for runs in the fish world"),
        (["pole", "--level", "1-1"], "--level can be given for the Mario world only"),
        (["fish", "pole"], "'fish' was named, and run pole, checkpoint u00000003 is in the foreign world"),
    ],
)
def test_bad_input_is_one_sentence(respawn, runs, words, sentence):
    answer = respawn("policy", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_folders_are_made_for_a_figure_that_is_drawn_and_for_no_other(respawn, runs, tmp_path):
    figure = tmp_path / "new/sub/a.png"
    assert respawn("policy", "nosuch", "--figure", str(figure)).exit_code == 2 and not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    impossible = tmp_path / "file/sub/a.png"
    answer = respawn("policy", "pole", "--figure", str(impossible))
    assert answer.exit_code == 2 and answer.sentence.startswith(f"{impossible} cannot be written (")
    assert answer.sentence.endswith("; name a file elsewhere with --figure")
    assert respawn("policy", "pole", "--figure", str(figure)).exit_code == 0 and figure.stat().st_size > 0


def test_shipped_weights_are_found_as_play_finds_them(respawn, runs):
    said = json.loads(respawn("policy", "fish", "--fish", "3", "--limit-steps", "4", "--follow", "2", "--json").out)
    assert (said["run"], said["checkpoint"], said["follow"]) == ("fish", "shipped", 2)
    assert said["steps"][0]["alive"] == 3 and said["outcome"]["fish"] == 3
    assert "fish 2" in respawn("policy", "fish", "--fish", "3", "--limit-steps", "4", "--follow", "2").out
    answer = respawn("policy", "fish@best")
    assert answer.exit_code == 2 and answer.sentence.startswith("'fish' means the weights that come with respawn")


def test_help_fits_eighty_columns(respawn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("policy", "--help")
    assert answer.exit_code == 0 and max(map(len, answer.out.splitlines())) <= 80
    assert "--temperatures" in answer.out
