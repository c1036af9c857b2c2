"""respawn sweep show: how a study is doing, whoever put what into it."""

import json
from pathlib import Path

import pytest
from optuna.trial import TrialState, create_trial

from respawn.presets import find_preset
from respawn.sweeps.definition import Definition
from respawn.sweeps.drawing import drawn_whole
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.space import Choice, Range
from respawn.sweeps.storage import open_study, sampler, storage_url

SPACE = {"learner.clip": Range(0.1, 0.4), "model.hidden_sizes": Choice(([4], [8, 8]))}
DEFINITION = Definition("cartpole-ppo", find_preset("cartpole-ppo"), SPACE, "evaluation/return_mean")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study with one complete trial, where commands look for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    folder = StudyFolder(Path("sweeps/small"))
    folder.path.mkdir(parents=True)
    study = open_study(storage_url(folder, None), "small", DEFINITION)
    study.add_trial(create_trial(state=TrialState.RUNNING))
    study.tell(drawn_whole(study, 0, SPACE, sampler("random", 0, 0)), 20.0)
    return study


def test_a_trial_that_waits_is_told_apart(respawn, study):
    study.enqueue_trial({"learner.clip": 0.25})
    answer = respawn("sweep", "show", "small")
    assert answer.exit_code == 0 and "Study small: 2 trials, 1 complete, 1 waiting" in answer.out
    assert "Trial 1 waits: it was enqueued, and is tried with --trials 2 or more" in answer.out
    assert json.loads(respawn("sweep", "show", "small", "--json").out)["counts"]["waiting"] == 1


def test_a_trial_that_something_else_put_there_is_passed_over_and_that_is_said(respawn, study):
    trial = study.ask()
    trial.suggest_int("learner.epochs", 1, 4)
    study.tell(trial, 99.0)
    answer = respawn("sweep", "show", "small")
    assert (answer.exit_code, answer.err) == (0, "")
    assert (
        "Trial 1 is passed over: respawn did not draw it, as the study's space does not hold its learner.epochs"
        in answer.out
    )
    summary = json.loads(respawn("sweep", "show", "small", "--json").out)
    assert summary["best"] == 0 and summary["trials"][1]["foreign"] == ["learner.epochs"]


def test_a_file_of_the_best_that_is_no_more_the_best_is_not_said_to_be(respawn, study):
    same = "The same:        respawn train --config sweeps/small/best.toml"
    assert "The same:" not in respawn("sweep", "show", "small").out
    assert same in respawn("sweep", "show", "small", "--redraw").out
    study.add_trial(create_trial(state=TrialState.RUNNING))
    study.tell(drawn_whole(study, 1, SPACE, sampler("random", 0, 1)), 99.0)
    shown = respawn("sweep", "show", "small").out
    assert same not in shown
    stale = (
        "The same:        not sweeps/small/best.toml, which is of another moment; 'respawn sweep show' with --redraw"
    )
    assert stale in shown
    assert same in respawn("sweep", "show", "small", "--redraw").out


def test_a_command_can_be_pasted_where_a_folder_has_a_space(respawn, study):
    Path("sweeps").rename("my sweeps")
    shown = respawn("sweep", "show", "small", "--sweeps", "my sweeps", "--redraw").out
    assert "The same:        respawn train --config 'my sweeps/small/best.toml'\n" in shown


def test_a_storage_that_fails_is_told_in_one_sentence(respawn, study, monkeypatch):
    def trial_rows(study, definition):
        Path("sweeps/small/study.db").write_text("overwritten " * 20_000)
        return study.get_trials()

    monkeypatch.setattr("respawn.cli.sweep_show.trial_rows", trial_rows)
    answer = respawn("sweep", "show", "small")
    assert answer.exit_code == 1 and answer.sentence.startswith("the study's storage failed (")
