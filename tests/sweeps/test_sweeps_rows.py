"""A row for each trial."""

from optuna.trial import TrialState
from small_studies import definition_of, row, study_of

from respawn.sweeps.claims import CAUSE, HOST, RUN
from respawn.sweeps.rows import best_first, trial_rows
from respawn.sweeps.trial_run import DECISIONS, UPDATES, WEIGHTS


def test_a_row_says_what_the_study_knows():
    definition = definition_of()
    study = study_of(definition)
    first, second, third = (study.ask() for _ in range(3))
    for trial in (first, second):
        trial.suggest_float("learner.clip", 0.1, 0.4)
        trial.suggest_categorical("model.hidden_sizes", ["[4]", "[8, 8]"])
    for name, value in {RUN: "small-t0000", HOST: "here", UPDATES: 6, DECISIONS: 48, WEIGHTS: "abc"}.items():
        first.set_user_attr(name, value)
    first.report(2.0, 32)
    first.report(1.0, 16)
    study.tell(first, 1.5)
    second.report(0.5, 16)
    study.tell(second, state=TrialState.PRUNED)
    third.set_user_attr(CAUSE, "the pole broke")
    study.tell(third, state=TrialState.FAIL)
    study.ask()
    rows = trial_rows(study, definition)
    assert [(one.trial, one.state, one.value) for one in rows] == [
        (0, "complete", 1.5),
        (1, "pruned", 0.5),
        (2, "failed", None),
        (3, "running", None),
    ]
    assert rows[0].curve == ((16, 1.0), (32, 2.0)) and rows[0].seconds is not None and rows[3].seconds is None
    assert (rows[0].run, rows[0].host, rows[0].updates, rows[0].decisions) == ("small-t0000", "here", 6, 48)
    assert rows[0].weights_sha256 == "abc" and rows[2].cause == "the pole broke"
    assert rows[0].settings["learner.clip"] == first.params["learner.clip"]
    assert rows[0].settings["model.hidden_sizes"] in ([4], [8, 8])


def test_a_trial_that_something_else_put_there_is_passed_over():
    definition = definition_of()
    study = study_of(definition)
    trial = study.ask()
    trial.suggest_float("learner.clip", 0.1, 0.4)
    trial.suggest_categorical("model.hidden_sizes", ["[16]", "[32]"])
    trial.suggest_int("learner.epochs", 1, 4)
    study.tell(trial, 9.0)
    (foreign,) = trial_rows(study, definition)
    assert foreign.foreign == ("learner.epochs", "model.hidden_sizes")
    assert foreign.settings == {"learner.clip": trial.params["learner.clip"]}
    assert [one.trial for one in best_first([foreign, row(1, 1.0)], definition)] == [1]


def test_the_best_are_those_that_went_on_to_their_end():
    rows = [row(0, 1.0), row(1, 3.0), row(2, 9.0, "pruned"), row(3, None, "failed"), row(4, 2.0)]
    assert [one.trial for one in best_first(rows, definition_of())] == [1, 4, 0]
    assert [one.trial for one in best_first(rows, definition_of(direction="minimise"))] == [0, 4, 1]


def test_of_two_that_are_as_good_the_one_that_took_less_is_better():
    rows = [row(0, 1.0, decisions=64), row(1, 1.0, decisions=48), row(2, 1.0, decisions=48)]
    assert [one.trial for one in best_first(rows, definition_of())] == [1, 2, 0]
