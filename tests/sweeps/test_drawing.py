"""What a trial tries."""

from math import nextafter

import optuna
import pytest
from optuna.trial import TrialState, create_trial
from small_studies import definition_of, study_of

from respawn.errors import StudyError
from respawn.sweeps.drawing import NotOfTheSpaceError, drawn_whole
from respawn.sweeps.space import Choice, Range
from respawn.sweeps.storage import pruner, sampler

DEFINITION = definition_of()
SPACE = DEFINITION.space
DISTRIBUTION = optuna.distributions.FloatDistribution(0.1, 0.4)


def with_a_trial(study, **facts):
    study.add_trial(create_trial(state=TrialState.RUNNING, **facts))
    return len(study.trials) - 1


def drawn(study, number, space=SPACE):
    return drawn_whole(study, number, space, sampler("tpe", 0, number))


def after_ten():
    """A study in which TPE has something to go by."""
    study = study_of(DEFINITION)
    for value in range(10):
        number = with_a_trial(study)
        study.tell(drawn(study, number), float(value))
    return study


def test_a_trial_gets_a_value_for_every_setting():
    study = study_of(DEFINITION)
    trial = drawn(study, with_a_trial(study))
    assert trial.params == study.trials[0].params and trial.params.keys() == SPACE.keys()
    assert study.trials[0].distributions == {
        "learner.clip": optuna.distributions.FloatDistribution(0.1, 0.4),
        "model.hidden_sizes": optuna.distributions.CategoricalDistribution(("[4]", "[8, 8]")),
    }
    assert drawn(study, 0).params == trial.params  # it has them now


@pytest.mark.parametrize("study", [study_of(DEFINITION), after_ten()], ids=["at random", "by TPE"])
def test_one_that_has_a_part_gets_the_rest_as_if_it_had_nothing(study):
    number = with_a_trial(study)
    whole = drawn(study, number)
    study.tell(whole, state=TrialState.FAIL)  # which is nothing to go by
    half = with_a_trial(
        study, params={"learner.clip": 0.123}, distributions={"learner.clip": whole.distributions["learner.clip"]}
    )
    again = drawn_whole(study, half, SPACE, sampler("tpe", 0, number))
    assert again.params == {**whole.params, "learner.clip": 0.123}


def test_what_others_began_since_changes_nothing():
    alone, beside = after_ten(), after_ten()
    number = with_a_trial(alone)
    assert with_a_trial(beside) == number
    for _ in range(3):
        study_number = with_a_trial(beside)
        beside.tell(drawn(beside, study_number), 99.0)
    assert drawn(beside, number).params == drawn(alone, number).params


def test_trials_that_wait_or_have_drawn_nothing_yet_are_in_nobodys_way():
    study = after_ten()
    study.enqueue_trial({"learner.clip": 0.25})
    with_a_trial(study)
    study.pruner = pruner("hyperband", DEFINITION)
    number = with_a_trial(study)
    assert drawn(study, number).params.keys() == SPACE.keys()
    assert [trial.state for trial in study.trials[10:]] == [TrialState.WAITING, TrialState.RUNNING, TrialState.RUNNING]
    assert not study.trials[11].params


def test_what_it_was_enqueued_with_it_gets():
    study = study_of(DEFINITION)
    study.enqueue_trial({"learner.clip": 0.25})
    study.enqueue_trial({"learner.clip": 0.25, "model.hidden_sizes": "[16]"})
    study._storage.set_trial_state_values(study.trials[0]._trial_id, TrialState.RUNNING)
    study._storage.set_trial_state_values(study.trials[1]._trial_id, TrialState.RUNNING)
    assert drawn(study, 0).params["learner.clip"] == 0.25
    with pytest.raises(NotOfTheSpaceError, match=r"^model.hidden_sizes '\[16\]' is not in \[\[4\], \[8, 8\]\]$"):
        drawn(study, 1)


@pytest.mark.parametrize("value", [0.5, 0.09, "wide", True, None])
def test_a_number_out_of_range_is_refused_before_it_is_kept(value):
    study = study_of(DEFINITION)
    study.enqueue_trial({"learner.clip": value})
    study._storage.set_trial_state_values(study.trials[0]._trial_id, TrialState.RUNNING)
    with pytest.raises(NotOfTheSpaceError, match=rf"^learner.clip {value!r} is not in {{ low = 0.1, high = 0.4 }}$"):
        drawn(study, 0)
    assert not study.trials[0].params


def test_what_it_has_already_must_be_of_the_space_too():
    study = study_of(DEFINITION)
    others = optuna.distributions.FloatDistribution(0.0, 1.0)
    number = with_a_trial(study, params={"learner.clip": 0.5}, distributions={"learner.clip": others})
    with pytest.raises(NotOfTheSpaceError, match=r"learner.clip 0.5"):
        drawn(study, number)


def test_trials_that_the_space_does_not_hold_change_nothing_that_is_drawn():
    """Nor do they stop those after them from being drawn."""
    alone, beside = after_ten(), after_ten()
    foreign = {
        "learner.clip": (0.5, optuna.distributions.FloatDistribution(0.1, 1.0)),
        "learner.epochs": (3, optuna.distributions.IntDistribution(1, 4)),
        "model.hidden_sizes": ("[16]", optuna.distributions.CategoricalDistribution(("[16]", "[4]"))),
    }
    numbers = []
    for name, (value, distribution) in foreign.items():
        params, distributions = {name: value}, {name: distribution}
        beside.add_trial(create_trial(value=99.0, params=params, distributions=distributions))
        alone.add_trial(create_trial(state=TrialState.FAIL))
        numbers.append(with_a_trial(beside))
        assert with_a_trial(alone) == numbers[-1]
    # As an older respawn left it: Optuna itself keeps such a one, and would not take it in again.
    broken = create_trial(value=99.0, params={"learner.clip": 0.2}, distributions={"learner.clip": DISTRIBUTION})
    broken.params["learner.clip"] = 0.5
    beside._storage.create_new_trial(beside._study_id, template_trial=broken)
    alone.add_trial(create_trial(state=TrialState.FAIL))
    numbers.append(with_a_trial(beside))
    assert with_a_trial(alone) == numbers[-1]
    for number in numbers:
        assert drawn(beside, number).params == drawn(alone, number).params


@pytest.mark.parametrize("beyond", [nextafter(0.1, 0.0), nextafter(0.4, 1.0)])
def test_an_end_that_is_drawn_is_not_rounded_beyond_itself(beyond):
    class Rounding(optuna.samplers.RandomSampler):
        def sample_independent(self, study, trial, param_name, param_distribution):
            return beyond

    study = study_of(DEFINITION)
    number = with_a_trial(study)
    value = drawn_whole(study, number, {"learner.clip": Range(0.1, 0.4, log=True)}, Rounding()).params["learner.clip"]
    assert value in (0.1, 0.4)


def test_a_setting_that_something_else_keeps_otherwise_ends_it_with_a_sentence():
    study = study_of(DEFINITION)
    theirs = study.ask()
    theirs.suggest_categorical("learner.clip", ["narrow", "wide"])
    study.tell(theirs, 1.0)
    number = with_a_trial(study)
    with pytest.raises(StudyError, match=r"trials of another kind of learner.clip into the study.*another --name"):
        drawn(study, number)


def test_every_kind_of_span_is_kept_as_what_it_is():
    space = {
        "learner.clip": Range(0.1, 0.4, step=0.1),
        "learner.epochs": Range(1, 9, step=4, is_whole=True),
        "learner.minibatches": Range(1, 8, log=True, is_whole=True),
        "learner.entropy_cost": Range(1e-4, 1e-2, log=True),
        "learner.compile": Choice((False, True)),
    }
    study = study_of(definition_of(space=space))
    assert drawn(study, with_a_trial(study), space).distributions == {
        "learner.clip": optuna.distributions.FloatDistribution(0.1, 0.4, step=0.1),
        "learner.epochs": optuna.distributions.IntDistribution(1, 9, step=4),
        "learner.minibatches": optuna.distributions.IntDistribution(1, 8, log=True),
        "learner.entropy_cost": optuna.distributions.FloatDistribution(1e-4, 1e-2, log=True),
        "learner.compile": optuna.distributions.CategoricalDistribution((False, True)),
    }
