"""Which trial is next, and whose."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count

import optuna
import pytest
from optuna.trial import TrialState
from small_studies import definition_of, folder_in, study_of

from respawn.errors import ConfigError, RunFolderError
from respawn.sweeps import claims
from respawn.sweeps.claims import (
    BROKE,
    CAUSE,
    HOST,
    MOST_TIMES_TAKEN_UP,
    PLACE,
    RUN,
    TAKEN_UP,
    Order,
    claim_next,
    give_up,
)
from respawn.sweeps.drawing import NotOfTheSpaceError
from respawn.sweeps.space import Choice, Range

DEFINITION = definition_of()
ORDER = Order(trials=3, sampler="tpe", name="small")


@pytest.fixture
def study():
    return study_of(DEFINITION)


@pytest.fixture
def folder(tmp_path):
    return folder_in(tmp_path)


def next_one(study, folder, order=ORDER):
    return claim_next(study, DEFINITION, folder, order)


def test_new_trials_are_drawn_until_there_are_enough(study, folder):
    claims = [next_one(study, folder) for _ in range(4)]
    assert claims.pop() is None
    assert [(claim.number, claim.is_taken_up) for claim in claims] == [(0, False), (1, False), (2, False)]
    assert len({claim.drawn["learner.clip"] for claim in claims}) == 3
    for claim in claims:
        assert 0.1 <= claim.drawn["learner.clip"] <= 0.4 and claim.drawn["model.hidden_sizes"] in ("[4]", "[8, 8]")
    attributes = study.trials[1].user_attrs
    assert attributes[RUN] == "small-t0001" and attributes[PLACE] == folder.identity() and attributes[HOST]


def test_what_is_drawn_follows_from_seed_and_number_alone(tmp_path):
    drawn = []
    for name in ("one", "other"):
        study, folder = study_of(DEFINITION), folder_in(tmp_path, name)
        for value in (1.0, 2.0, 3.0):
            claim = next_one(study, folder)
            drawn.append(claim.drawn)
            study.tell(claim.trial, value)
    assert drawn[:3] == drawn[3:]


def test_every_kind_of_span_is_drawn_within_its_ends(folder):
    space = {
        "learner.clip": Range(0.1, 0.4, step=0.1),
        "learner.epochs": Range(1, 9, step=4, is_whole=True),
        "learner.minibatches": Range(1, 8, log=True, is_whole=True),
        "learner.entropy_cost": Range(1e-4, 1e-2, log=True),
        "learner.compile": Choice((False, True)),
    }
    definition = definition_of(space=space)
    study = study_of(definition)
    for _ in range(12):
        drawn = claim_next(study, definition, folder, Order(12, "random", "small")).drawn
        assert any(abs(drawn["learner.clip"] - value) < 1e-9 for value in (0.1, 0.2, 0.3, 0.4))
        assert drawn["learner.epochs"] in (1, 5, 9) and drawn["learner.minibatches"] in range(1, 9)
        assert 1e-4 <= drawn["learner.entropy_cost"] <= 1e-2 and drawn["learner.compile"] in (False, True)


def test_one_that_was_left_goes_before_a_new_one(study, folder):
    left, held = next_one(study, folder), next_one(study, folder)
    left.lock.release()
    again, new = next_one(study, folder), next_one(study, folder)
    assert (again.number, again.is_taken_up, again.drawn) == (0, True, left.drawn)
    assert (held.number, new.number, new.is_taken_up) == (1, 2, False)
    assert next_one(study, folder) is None


def test_one_that_ended_is_never_taken_up(study, folder):
    claim = next_one(study, folder)
    study.tell(claim.trial, 1.0)
    claim.lock.release()
    assert next_one(study, folder).number == 1


def test_one_of_another_folder_is_left_alone(study, folder, tmp_path):
    claim = next_one(study, folder_in(tmp_path, "elsewhere"))
    claim.lock.release()
    assert next_one(study, folder).number == 1


def test_one_that_takes_its_process_along_each_time_is_given_up(study, folder):
    told = []
    order = Order(1, "tpe", "small", lambda *facts: told.append(facts))
    for times in range(MOST_TIMES_TAKEN_UP + 1):
        claim = next_one(study, folder, order)
        assert (claim.number, claim.is_taken_up) == (0, times > 0)
        claim.lock.release()
    assert next_one(study, folder, order) is None
    cause = "its process was lost 3 times with no evaluation in between, so it is not tried again"
    assert told == [(0, cause, True)]
    assert study.trials[0].state == TrialState.FAIL and study.trials[0].user_attrs[CAUSE] == cause


def test_one_that_cuda_failed_in_each_time_is_given_up_with_what_it_said(study, folder):
    for _ in range(MOST_TIMES_TAKEN_UP + 1):
        claim = next_one(study, folder)
        claim.trial.set_user_attr(BROKE, "CUDA error: device-side assert triggered")
        claim.lock.release()
    assert next_one(study, folder).number == 1
    assert study.trials[0].user_attrs[CAUSE] == (
        "its process was lost 3 times, to CUDA (CUDA error: device-side assert triggered), with no evaluation in "
        "between, so it is not tried again"
    )


def test_what_was_lost_before_an_evaluation_is_forgotten(study, folder):
    claim = next_one(study, folder)
    claim.trial.set_user_attr(BROKE, "CUDA error: device-side assert triggered")
    claim.lock.release()
    for _ in range(MOST_TIMES_TAKEN_UP + 1):
        claim = next_one(study, folder)
        assert claim.number == 0
        claim.forget_losses()
        claim.lock.release()
    for _ in range(MOST_TIMES_TAKEN_UP):
        next_one(study, folder).lock.release()
    assert next_one(study, folder).number == 1
    assert study.trials[0].user_attrs[CAUSE].startswith("its process was lost 3 times with no evaluation in between")


class Killed(BaseException):
    """A process ends here, and does nothing any more."""


def dying_after(study, writes):
    """Let whoever works on a study die before it writes to its storage once more than so often."""
    left = iter(range(writes))
    storage = study._storage

    def dying(real):
        def write(*words, **facts):
            if next(left, None) is None:
                raise Killed
            return real(*words, **facts)

        return write

    for name in ("create_new_trial", "set_trial_param", "set_trial_user_attr", "set_trial_state_values"):
        setattr(storage, name, dying(getattr(storage, name)))


def mended(study):
    for name in [name for name in vars(study._storage) if name.startswith(("create_", "set_"))]:
        delattr(study._storage, name)


def test_one_whose_process_died_at_any_moment_of_taking_it_is_taken_up_at_once(tmp_path):
    undisturbed = next_one(study_of(DEFINITION), folder_in(tmp_path, "undisturbed"))
    for writes in count():
        study, folder = study_of(DEFINITION), folder_in(tmp_path, f"after-{writes}")
        dying_after(study, writes)
        claim = None
        with suppress(Killed):
            claim = next_one(study, folder)
        mended(study)
        if claim is not None:
            break
        again = next_one(study, folder)
        assert (again.number, again.drawn) == (0, undisturbed.drawn), f"after {writes} writes"
        assert study.trials[0].user_attrs[RUN] == "small-t0000"
        assert next_one(study, folder).number == 1  # and nothing else was left
    assert writes > 1


def sooner(study, folder, monkeypatch):
    """Let another machine claim a trial between the moment that ours looks and the moment that it begins one."""
    claimed, real = [], study.add_trial

    def add_trial(trial):
        monkeypatch.setattr(study, "add_trial", real)
        claimed.append(next_one(study, folder))
        real(trial)

    monkeypatch.setattr(study, "add_trial", add_trial)
    return claimed


def test_machines_that_choose_at_the_same_moment_draw_what_one_alone_would(study, folder, tmp_path, monkeypatch):
    alone, own = study_of(DEFINITION), folder_in(tmp_path, "alone")
    expected = [next_one(alone, own) for _ in range(2)]
    theirs = sooner(study, folder_in(tmp_path, "elsewhere"), monkeypatch)
    ours = next_one(study, folder)
    assert [(claim.number, claim.drawn) for claim in (*theirs, ours)] == [
        (claim.number, claim.drawn) for claim in expected
    ]
    assert ours.drawn != theirs[0].drawn
    assert [trial.user_attrs[RUN] for trial in study.trials] == ["small-t0000", "small-t0001"]


def test_one_too_many_is_withdrawn(study, folder, tmp_path, monkeypatch):
    held = [next_one(study, folder) for _ in range(2)]
    theirs = sooner(study, folder_in(tmp_path, "elsewhere"), monkeypatch)
    assert next_one(study, folder) is None
    assert theirs[0].number == 2 and study.trials[2].state == TrialState.RUNNING
    assert study.trials[3].state == TrialState.FAIL and not study.trials[3].params
    assert study.trials[3].user_attrs[CAUSE] == "it was withdrawn, as 3 trials had been begun before it"
    assert next_one(study, folder) is None and len(study.trials) == 4
    more = next_one(study, folder, Order(5, "tpe", "small"))
    assert (more.number, more.is_taken_up) == (4, False) and len(held) == 2


def test_one_too_many_whose_process_died_before_it_was_withdrawn_is_not_tried(study, folder, tmp_path, monkeypatch):
    order = Order(1, "tpe", "small")
    theirs = sooner(study, folder_in(tmp_path, "elsewhere"), monkeypatch)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(study, "tell", lambda *words, **facts: (_ for _ in ()).throw(Killed))
        next_one(study, folder, order)
    assert len(theirs) == 1 and study.trials[1].state == TrialState.RUNNING
    assert next_one(study, folder, order) is None
    assert study.trials[1].state == TrialState.FAIL


def test_one_that_was_begun_when_more_were_wanted_is_still_taken_up(study, folder):
    claims = [next_one(study, folder) for _ in range(3)]
    claims[2].lock.release()
    again = next_one(study, folder, Order(1, "tpe", "small"))
    assert (again.number, again.is_taken_up, again.drawn) == (2, True, claims[2].drawn)


def test_those_that_wait_are_tried_within_what_is_wanted(study, folder):
    """Enqueued when the study was complete already, they are there and yet not done."""
    for _ in range(2):
        study.tell(next_one(study, folder).trial, 1.0)
    for clip in (0.25, 0.35):
        study.enqueue_trial({"learner.clip": clip})
    claim = next_one(study, folder)
    assert (claim.number, claim.is_taken_up, claim.drawn["learner.clip"]) == (2, False, 0.25)
    assert study.trials[2].user_attrs[RUN] == "small-t0002"
    assert next_one(study, folder) is None and study.trials[3].state == TrialState.WAITING
    assert next_one(study, folder, Order(4, "tpe", "small")).drawn["learner.clip"] == 0.35


def test_one_that_waits_is_taken_by_one_machine(study, folder, tmp_path, monkeypatch):
    study.enqueue_trial({"learner.clip": 0.25})
    storage, real = study._storage, study._storage.set_trial_state_values
    theirs = []

    def set_trial_state_values(*words, **facts):
        monkeypatch.setattr(storage, "set_trial_state_values", real)
        theirs.append(next_one(study, folder_in(tmp_path, "elsewhere")))
        return real(*words, **facts)

    monkeypatch.setattr(storage, "set_trial_state_values", set_trial_state_values)
    ours = next_one(study, folder)
    assert (theirs[0].number, theirs[0].drawn["learner.clip"], ours.number) == (0, 0.25, 1)


def test_one_that_was_enqueued_with_what_does_not_fit_the_space_fails_alone(study, folder):
    study.enqueue_trial({"model.hidden_sizes": "[16]"})
    told = []
    order = Order(3, "tpe", "small", lambda *facts: told.append(facts))
    assert next_one(study, folder, order).number == 1
    cause = study.trials[0].user_attrs[CAUSE]
    assert study.trials[0].state == TrialState.FAIL and told == [(0, cause, False)]
    assert cause.startswith("what it was to try does not fit the space: ") and "[16]" in cause


def test_one_that_was_enqueued_out_of_range_fails_alone(study, folder):
    study.tell(next_one(study, folder).trial, 1.0)
    study.enqueue_trial({"learner.clip": 0.5})
    order = Order(4, "tpe", "small")
    claims = [next_one(study, folder, order) for _ in range(3)]
    assert [claim and claim.number for claim in claims] == [2, 3, None]
    assert study.trials[1].state == TrialState.FAIL
    assert study.trials[1].user_attrs[CAUSE] == (
        "what it was to try does not fit the space: learner.clip 0.5 is not in { low = 0.1, high = 0.4 }"
    )


def test_a_new_one_that_fails_does_not_mean_that_nothing_is_left(study, folder, monkeypatch):
    real = claims.drawn_whole

    def drawn_whole(study, number, *words):
        if number == 0:
            raise NotOfTheSpaceError("not this one")
        return real(study, number, *words)

    monkeypatch.setattr(claims, "drawn_whole", drawn_whole)
    assert next_one(study, folder).number == 1


def test_two_studies_in_one_folder_are_told_of_each_other(study, folder):
    other = study_of(DEFINITION)
    held = next_one(study, folder)
    with pytest.raises(ConfigError, match=r"sweeps/small is in use by another study .* whose trial 0 is being worked"):
        next_one(other, folder)
    held.lock.release()
    assert next_one(other, folder).is_taken_up


def test_what_optuna_was_told_to_try_is_tried(study, folder):
    study.enqueue_trial({"learner.clip": 0.25, "model.hidden_sizes": "[4]"})
    claim = next_one(study, folder)
    assert (claim.number, claim.drawn) == (0, {"learner.clip": 0.25, "model.hidden_sizes": "[4]"})
    assert study.trials[0].user_attrs[PLACE] == folder.identity()


def test_one_that_was_judged_since_is_taken_up_again(study, folder):
    for _ in range(MOST_TIMES_TAKEN_UP + 3):
        claim = next_one(study, folder)
        assert claim.number == 0
        claim.trial.set_user_attr(TAKEN_UP, 0)
        claim.lock.release()


def test_one_that_nobody_began_fails_after_a_while(study, folder, monkeypatch):
    study.ask()  # and the process died
    first = next_one(study, folder)
    assert first.number == 1
    assert study.trials[0].state == TrialState.RUNNING

    class Later(datetime):
        @classmethod
        def now(cls):
            return datetime.now() + timedelta(minutes=11)

    monkeypatch.setattr(claims, "datetime", Later)
    assert next_one(study, folder).number == 2
    assert study.trials[0].state == TrialState.FAIL
    assert study.trials[0].user_attrs[CAUSE] == "its process died before it began"


def test_a_trial_of_a_machine_that_is_gone_can_be_given_up(study, folder, tmp_path):
    claim = next_one(study, folder_in(tmp_path, "elsewhere"))
    give_up(study, folder, claim.number)
    trial = study.trials[0]
    assert trial.state == TrialState.FAIL and trial.user_attrs[CAUSE].startswith("it was given up, left on ")
    with pytest.raises(optuna.exceptions.UpdateFinishedTrialError):
        claim.trial.report(1.0, 16)


def test_one_that_waits_is_not_given_up_and_is_not_said_to_have_ended(study, folder):
    study.enqueue_trial({"learner.clip": 0.25})
    with pytest.raises(RunFolderError, match="trial 0 waits: it was enqueued and nobody has begun it"):
        give_up(study, folder, 0)
    assert study.trials[0].state == TrialState.WAITING


def test_what_is_worked_on_has_ended_or_was_never_there_is_not_given_up(study, folder):
    claim = next_one(study, folder)
    with pytest.raises(RunFolderError, match="trial 0 is being worked on here; stop that sweep first"):
        give_up(study, folder, 0)
    study.tell(claim.trial, 1.0)
    with pytest.raises(RunFolderError, match="trial 0 has ended"):
        give_up(study, folder, 0)
    for number in (1, -1):
        with pytest.raises(RunFolderError, match=f"there is no trial {number}; there are 1"):
            give_up(study, folder, number)
