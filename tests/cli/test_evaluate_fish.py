"""`respawn evaluate` of a school of fish."""

import json
import shutil
from pathlib import Path

import pytest

from respawn.cli.main import main
from respawn.maths.seeding import derive_seed
from respawn.runs.layout import RunFolder
from respawn.training.recorded import load_config
from respawn.worlds.seeds import lane_seeds

SMALL = [
    *("--world.fish", "3", "--world.judged-fish", "5", "--world.limit-steps", "30", "--collection.num-lanes", "6"),
    *("--collection.horizon-steps", "8", "--learner.epochs", "1", "--learner.minibatches", "2", "--threads", "1"),
    *("--model.hidden-sizes", "8", "--evaluation.every-updates", "1", "--evaluation.episodes", "2"),
    *("--observers.no-tensorboard", "--observers.no-console", "--device", "cpu", "--updates", "1"),
]
JUDGE = ["--episodes", "4", "--fish", "6", "--seed-base", "9000000"]
NUMBERS = ("survival_mean", "survival_worst", "doomed_fraction", "death_p10", "early_death_100", "step_one_ratio")
NULLS = ("coast", "brake", "turn_left", "turn_right", "random", "evader")


@pytest.fixture(scope="module")
def schools(tmp_path_factory):
    """A runs folder with a school that has made one update."""
    folder = tmp_path_factory.mktemp("schools") / "runs"
    assert main(["train", "fish", *SMALL, "--name", "school", "--runs", str(folder)]) == 0
    return folder


@pytest.fixture
def here(schools, tmp_path, monkeypatch):
    """A copy of it in ./runs, where commands look when they are told nothing else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copytree(schools, "runs")


def test_json_has_the_numbers_and_what_they_are_worth(respawn, here):
    answer = respawn("evaluate", "school", *JUDGE, "--json")
    found = json.loads(answer.out)
    assert (found["run"], found["episodes"], found["fish"], found["seed_base"]) == ("school", 4, 6, 9000000)
    assert all(isinstance(found[name], float) for name in NUMBERS)
    assert (
        0.0 <= found["survival_worst"] <= found["survival_mean"] <= 1.0 - found["doomed_fraction"] == found["ceiling"]
    )
    assert found["survival_mean"] == pytest.approx(sum(found["survival"]) / 4) and len(found["survival"]) == 4
    assert found["survival_low"] <= found["survival_mean"] <= found["survival_high"]
    assert set(NULLS) <= set(found["null_policies"])
    assert all(0.0 <= found["null_policies"][name]["survival_mean"] <= 1.0 for name in NULLS)
    assert found["sampled"]["doomed_fraction"] == found["doomed_fraction"]
    assert found["weights_sha256"] == json.loads(respawn("runs", "show", "school", "--json").out)["weights_sha256"]
    again = json.loads(respawn("evaluate", "school", *JUDGE, "--json").out)
    assert again == found  # the same seeds give the same schools


def test_less_can_be_asked_for(respawn, here):
    found = json.loads(respawn("evaluate", "school", *JUDGE, "--json", "--only-greedy").out)
    assert found["sampled"] is None and found["null_policies"] == {}
    found = json.loads(respawn("evaluate", "school", *JUDGE, "--json", "--no-null-policies").out)
    assert found["sampled"] is not None and found["null_policies"] == {}


def test_schools_have_96_fish_unless_told_otherwise(respawn, here):
    found = json.loads(respawn("evaluate", "school", "--episodes", "2", "--json", "--only-greedy").out)
    assert (found["fish"], found["seed_base"]) == (96, 3000000)


def test_a_table_for_people(respawn, here):
    answer = respawn("evaluate", "school", *JUDGE)
    assert answer.exit_code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("school: 4 schools of 6 fish, seeds 9,000,000 to 9,000,003, checkpoint u00000001")
    assert all(any(line.strip().startswith(name.replace("_", " ")) for line in lines) for name in ("greedy", *NULLS))
    assert "is the most that can survive" in answer.out.replace("\n", " ")
    assert "…" not in answer.out


def test_of_one_school_no_interval_is_said(respawn, here):
    words = ["evaluate", "school", *JUDGE, "--episodes", "1"]
    row = next(line.split() for line in respawn(*words).out.splitlines() if line.startswith("greedy "))
    assert row[2] == "-"
    found = json.loads(respawn(*words, "--json").out)
    for numbers in (found, found["sampled"], *found["null_policies"].values()):
        assert numbers["survival_low"] is numbers["survival_high"] is None and numbers["survival_mean"] is not None


def test_seeds_that_it_was_judged_by_while_it_learned_are_refused(respawn, here):
    answer = respawn("evaluate", "school", "--seed-base", "1000001")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("fresh seeds are wanted, and of 1000001 to 1000100, some are among those that")


def test_seeds_that_its_own_schools_began_from_are_refused(respawn, here):
    config = load_config(RunFolder(Path("runs/school")))
    own = lane_seeds(derive_seed(config.seed, "world"), config.collection.num_lanes)[3]
    answer = respawn("evaluate", "school", "--seed-base", str(own - 1), "--episodes", "3")
    assert answer.exit_code == 2
    assert (
        answer.sentence
        == f"fresh seeds are wanted, and {own} is one that the run learned from; name another --seed-base"
    )


def test_seeds_of_the_references_stream_are_refused_too(respawn, here):
    words = ["train", "fish", *SMALL, "--world.judged-seeds", "reference", "--evaluation.seed-base", "411232"]
    assert respawn(*words, "--name", "other").exit_code == 0
    answer = respawn("evaluate", "other", "--seed-base", "774941880", "--episodes", "2")
    assert answer.exit_code == 2 and "774941881 is one that the run was judged by while it learned" in answer.sentence
    assert respawn("evaluate", "other", "--seed-base", "774941882", "--episodes", "1", "--only-greedy").exit_code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--levels", "1-1"], "--levels is for runs in the Mario world, and school is in another one; leave it out"),
        (["--sticky", "0.25"], "--sticky is for runs in the Mario world, and school is in another one; leave it out"),
        (["--sampled"], "schools of fish are judged greedily and by drawn actions at once; leave --sampled out"),
        (["--fish", "0"], "--fish must be"),
        (["--fish", "5000"], "--fish must be"),
        (["--episodes", "0"], "--episodes must be at least 1, not 0"),
        (["--checkpoint", "u7"], "run school has no checkpoint 'u7'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, here, words, sentence):
    answer = respawn("evaluate", "school", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
