"""All figures of a study, as files."""

import optuna
from optuna.trial import TrialState, create_trial
from small_studies import SPACE, definition_of, folder_in, row, study_of

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


def test_figures_are_drawn_as_far_as_there_is_something_to_draw(tmp_path):
    folder = folder_in(tmp_path)
    names = {0: [], 8: ["history", "curves", "slices", "importances"]}
    for trials, drawn in names.items():
        study = told_study(trials)
        paths = publish(study, definition_of(), folder, trial_rows(study, definition_of()), [])
        assert paths == [folder.path / f"{name}.png" for name in drawn]
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
