"""respawn checkpoint, and the names that its verbs take."""

import shutil
from pathlib import Path

import pytest

from respawn.cli.checkpoint_names import checkpoint_at, find_checkpoint, split_name
from respawn.errors import ConfigError, RunFolderError


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "and nothing came"), (("mend",), "not 'mend'"), (("--json",), "not '--json'")],
)
def test_another_word_is_met_with_those_there_are(respawn, words, said):
    answer = respawn("checkpoint", *words)
    assert answer.exit_code == 2
    assert answer.sentence.startswith(f"'respawn checkpoint' wants one of inspect, verify, migrate, {said};")


@pytest.mark.parametrize("words", [(), ("inspect",), ("verify",), ("migrate",)])
def test_help_fits_the_terminal(respawn, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("checkpoint", *words, "--help")
    assert answer.exit_code == 0 and "usage: respawn checkpoint" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize("verb", ["inspect", "verify"])
def test_names_that_mean_nothing_are_one_sentence(respawn, runs, verb):
    assert "there is no run 'pol'" in respawn("checkpoint", verb, "pol").sentence
    assert "did you mean pole?" in respawn("checkpoint", verb, "pol").sentence
    assert respawn("checkpoint", verb, "pol").exit_code == 2
    assert (
        "run pole has no checkpoint '77'; the newest are: u00000003" in respawn("checkpoint", verb, "pole@77").sentence
    )
    assert "a checkpoint is named RUN@NAME" in respawn("checkpoint", verb, "pole@").sentence
    answer = respawn("checkpoint", verb)
    assert answer.exit_code == 2 and "CHECKPOINT" in answer.sentence


@pytest.mark.parametrize("verb", ["inspect", "verify"])
def test_a_run_without_checkpoints_says_what_to_do(respawn, runs, verb):
    shutil.rmtree(runs / "pole/checkpoints")
    answer = respawn("checkpoint", verb, "pole")
    assert answer.exit_code == 2 and answer.sentence.endswith("; put the checkpoints back, or start a new run")
    (runs / "pole/updates.jsonl").unlink()  # nothing was learned yet
    answer = respawn("checkpoint", verb, "pole")
    assert answer.exit_code == 2
    assert answer.sentence == (
        "run pole has no checkpoint in runs/pole/checkpoints; train it first, with: respawn resume pole"
    )
    assert "has no checkpoint 'u00000003'; it has none" in respawn("checkpoint", verb, "pole@u00000003").sentence


def test_a_name_is_split_at_its_last_at_unless_it_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a@b").mkdir()
    assert split_name("pole") == ("pole", "") and split_name("a@b@best") == ("a@b", "best")
    assert split_name("a@b") == ("a@b", "") and split_name("a@b/c") == ("a@b/c", "")
    with pytest.raises(ConfigError, match="a checkpoint is named RUN@NAME"):
        split_name("@best")


def test_a_checkpoint_is_found_by_run_by_name_by_number_and_by_path(runs, monkeypatch):
    folder = runs / "pole/checkpoints/u00000003"
    for word in ("pole", "pole@newest", "pole@best", "pole@3", "pole@u00000003", "runs/pole", "runs/pole@3"):
        assert find_checkpoint(Path("runs"), word).path == folder, word
    for word in (folder, folder.absolute(), folder / "clock.json", folder / "manifest.json"):
        named = find_checkpoint(Path("nowhere"), str(word))
        assert named.path.resolve() == folder.resolve() and named.folder.path.resolve() == (runs / "pole").resolve()
        assert named.title == "u00000003 of run pole"
    monkeypatch.chdir(folder)
    assert checkpoint_at(Path(".")).title == "u00000003 of run pole"
    monkeypatch.chdir("..")
    assert checkpoint_at(Path("u00000003")).title == "u00000003 of run pole"


def test_a_checkpoint_that_was_copied_away_belongs_to_no_run(runs, tmp_path):
    shutil.copytree(runs / "pole/checkpoints/u00000003", tmp_path / "kept")
    named = find_checkpoint(Path("runs"), str(tmp_path / "kept"))
    assert named.folder is None and named.title == "kept"


def test_a_run_comes_before_a_path_of_the_same_name(runs):
    shutil.copytree(runs / "recall/checkpoints/u00000002", "pole")
    assert find_checkpoint(Path("runs"), "pole").folder.name == "pole"


@pytest.mark.parametrize("which", [".writing-u00000004-1", "../checkpoints/u00000003", "..", "."])
def test_names_lead_nowhere_else(runs, which):
    (runs / "pole/checkpoints/.writing-u00000004-1").mkdir()
    with pytest.raises(RunFolderError):
        find_checkpoint(Path("runs"), f"pole@{which}")


def test_what_was_set_aside_can_still_be_named(runs):
    (runs / "pole/checkpoints/u00000003").rename(runs / "pole/checkpoints/damaged-u00000003")
    assert find_checkpoint(Path("runs"), "pole@damaged-u00000003").path.name == "damaged-u00000003"
    assert checkpoint_at(runs / "pole/checkpoints/damaged-u00000003").folder.name == "pole"
