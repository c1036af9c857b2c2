"""All figures of a study, as files."""

import optuna
from optuna.trial import TrialState, create_trial
from small_studies import SPACE, definition_of, folder_in, row, study_of

from respawn.evaluation.plots.figure import new_figure
from respawn.sweeps import publish as publishing
from respawn.sweeps.publish import FEWEST_FOR_IMPORTANCES, importances, publish
from respawn.sweeps.rows import trial_rows

DISTRIBUTIONS = {
    "learner.clip": optuna.distributions.FloatDistribution(0.1, 0.4),
    "model.hidden_sizes": optuna.distributions.CategoricalDistribution(SPACE["model.hidden_sizes"].labels),
}


def told_study(trials):
    """A study in which the clip is all that matters."""
    study = study_of(definition_of())
    for number in range(trials):
        clip = 0.1 + 0.3 * number / max(trials - 1, 1)
        params = {"learner.clip": clip, "model.hidden_sizes": ("[4]", "[8, 8]")[number % 2]}
        study.add_trial(
            create_trial(
                state=TrialState.COMPLETE, value=10 * clip, params=params, distributions=DISTRIBUTIONS,
                intermediate_values={16: clip, 32: 10 * clip},
            )
        )  # fmt: skip
    return study


def test_importances_say_what_matters_once_there_are_enough_trials():
    study = told_study(4 * FEWEST_FOR_IMPORTANCES)
    shares = importances(study, trial_rows(study, definition_of()))
    assert sum(shares.values()) == 1.0 and shares["learner.clip"] > 0.9
    few = told_study(FEWEST_FOR_IMPORTANCES - 1)
    assert importances(few, trial_rows(few, definition_of())) == {}


def test_importances_say_nothing_where_all_are_as_good():
    study = told_study(FEWEST_FOR_IMPORTANCES)
    assert importances(study, [row(number, 1.0) for number in range(FEWEST_FOR_IMPORTANCES)]) == {}


def with_a_foreign_one(study):
    """And with a trial that respawn did not draw, which is better than all others."""
    foreign = create_trial(
        value=1_000.0, params={"learner.clip": 0.9}, intermediate_values={16: 1_000.0},
        distributions={"learner.clip": optuna.distributions.FloatDistribution(0.0, 1.0)},
    )  # fmt: skip
    study.add_trial(foreign)
    return study


def test_what_respawn_did_not_draw_is_in_no_figure(tmp_path, monkeypatch):
    shown = []
    for name in ("draw_history", "draw_curves", "draw_slices"):
        real = getattr(publishing, name)
        monkeypatch.setattr(publishing, name, lambda *words, real=real: (shown.append(words[2]), real(*words))[1])
    study = with_a_foreign_one(told_study(2))
    publish(study, definition_of(), folder_in(tmp_path), trial_rows(study, definition_of()), [])
    assert [[row.trial for row in rows] for rows in shown] == [[0, 1]] * 3


def test_what_respawn_did_not_draw_has_no_part_in_importances(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(
        publishing, "draw_importances", lambda *words: (told.append(words[1:]), new_figure(1.0, 1.0))[1]
    )
    for study in (told_study(16), with_a_foreign_one(told_study(16))):
        folder = folder_in(tmp_path, f"study-{len(told)}")
        publish(study, definition_of(), folder, trial_rows(study, definition_of()), [])
    assert told[0] == told[1] and told[0][1] == 16


def test_figures_are_drawn_as_far_as_there_is_something_to_draw(tmp_path):
    folder = folder_in(tmp_path)
    names = {0: [], 8: ["history", "curves", "slices", "importances"]}
    for trials, drawn in names.items():
        study = told_study(trials)
        paths = publish(study, definition_of(), folder, trial_rows(study, definition_of()), [])
        assert paths == [folder.path / f"{name}.png" for name in drawn]
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
