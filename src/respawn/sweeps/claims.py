"""Which trial is next: one that was left, or a new one. Never one that somebody else is at work on."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import optuna
from filelock import FileLock
from optuna.trial import FrozenTrial, TrialState

from respawn.errors import RunFolderError
from respawn.sweeps.definition import Definition
from respawn.sweeps.drawing import NotOfTheSpaceError, drawn_whole
from respawn.sweeps.places import StudyFolder, in_use_by_another, make_folder, run_name
from respawn.sweeps.storage import SamplerName, sampler

RUN, HOST, PLACE, CAUSE, TAKEN_UP, PRUNED = "run", "host", "place", "cause", "taken_up", "pruned"
"""Attributes of a trial: its run, the machine and the study's folder that it was begun from, why it failed, how often
it was taken up since it was last judged, that it is pruned."""
BROKE = "broke"
"""Another: how CUDA failed when a process had to leave it, since it was last judged."""
MOST_TIMES_TAKEN_UP = 2
"""A trial that takes its worker along each time is given up."""
_NEVER_BEGUN = timedelta(minutes=10)


@dataclass
class Claim:
    """A trial that is this process's own until it is released."""

    number: int
    trial: optuna.Trial
    drawn: dict[str, Any]
    """as the study keeps it"""
    is_taken_up: bool
    """whether it was begun before, and left"""
    lock: FileLock

    def forget_losses(self) -> None:
        """Count anew how often it is lost: it came on since, or was left on purpose."""
        known = self.trial.user_attrs
        if known.get(TAKEN_UP):
            self.trial.set_user_attr(TAKEN_UP, 0)
        if known.get(BROKE):
            self.trial.set_user_attr(BROKE, "")


@dataclass(frozen=True)
class Order:
    """How trials are chosen."""

    trials: int
    """that the study is to have in all"""
    sampler: SamplerName
    name: str
    """of the study"""
    gave_up: Callable[[int, str, bool], None] = lambda number, cause, is_alarming: None
    """is told of a trial that is not gone on with, why, and whether the same may befall the next ones"""


def claim_next(study: optuna.Study, definition: Definition, folder: StudyFolder, order: Order) -> Claim | None:
    """The next trial for this process; None: nothing is left that somebody else is not at work on."""
    with folder.choosing():
        whose = {HOST: socket.gethostname(), PLACE: folder.identity()}
        trials = study.get_trials(deepcopy=False)
        for trial in trials:
            claim = None
            if trial.state == TrialState.RUNNING:
                claim = _left_behind(study, definition, trial, folder, order)
            elif trial.state == TrialState.WAITING and trial.number < order.trials and _taken(study, trial, whose):
                claim = _begun(study, definition, trial.number, folder, order)
            if claim is not None:
                return claim
        return _new(study, definition, folder, order, whose)


def _new(
    study: optuna.Study, definition: Definition, folder: StudyFolder, order: Order, whose: dict[str, str]
) -> Claim | None:
    """A trial that was not there before; None: there are as many as wanted."""
    while len(study.get_trials(deepcopy=False)) < order.trials:
        # First of all it is there, with whose it is: its number, which it is drawn by, is then nobody else's, on no
        # machine. If this process dies from here on, it is taken up as any other that was left.
        study.add_trial(optuna.trial.create_trial(state=TrialState.RUNNING, user_attrs=whose))
        claim = _begun(study, definition, _newest_of(study, whose[PLACE]), folder, order)
        if claim is not None:
            return claim
    return None


def give_up(study: optuna.Study, folder: StudyFolder, number: int) -> None:
    """Have a trial fail that is left, whoever began it; raises RunFolderError where it is not, or not known to be.

    Args:
      study: the study.
      folder: its folder here, made if it is not there.
      number: of the trial.
    """
    _running(study, number)  # before anything is made here
    make_folder(folder)
    with folder.choosing():
        trial = _running(study, number)
        lock = folder.hold(number)
        if lock is None:
            raise RunFolderError(f"trial {number} is being worked on here; stop that sweep first, with Ctrl-C")
        try:
            cause = f"it was given up, left on {trial.user_attrs.get(HOST, 'an unknown machine')}"
            _fail(study, optuna.Trial(study, trial._trial_id), cause)
        finally:
            lock.release()


def _running(study: optuna.Study, number: int) -> FrozenTrial:
    """A trial that was begun and has not ended; raises RunFolderError where it is none."""
    trials = study.get_trials(deepcopy=False)
    if not 0 <= number < len(trials):
        raise RunFolderError(f"there is no trial {number}; there are {len(trials)}, counted from 0")
    trial = trials[number]
    if trial.state == TrialState.WAITING:
        raise RunFolderError(
            f"trial {number} waits: it was enqueued and nobody has begun it, so there is nothing to give up; name one "
            "that is running"
        )
    if trial.state != TrialState.RUNNING:
        raise RunFolderError(f"trial {number} has ended, and stays as it is; name one that is running")
    return trial


def _taken(study: optuna.Study, trial: FrozenTrial, whose: dict[str, str]) -> bool:
    """Whether one that was enqueued, with Optuna's own means, is now ours; it is not if somebody else was sooner."""
    try:
        if not study._storage.set_trial_state_values(trial._trial_id, state=TrialState.RUNNING):
            return False
    except optuna.exceptions.UpdateFinishedTrialError:
        return False
    for name, value in whose.items():
        study._storage.set_trial_user_attr(trial._trial_id, name, value)
    return True


def _newest_of(study: optuna.Study, place: str) -> int:
    """The number of the trial that was begun last from a folder, in which nobody else chooses meanwhile."""
    trials = study.get_trials(deepcopy=False)
    return max(trial.number for trial in trials if trial.user_attrs.get(PLACE) == place)


def _begun(study: optuna.Study, definition: Definition, number: int, folder: StudyFolder, order: Order) -> Claim | None:
    """A trial that has just become ours, as a claim."""
    lock = folder.hold(number)
    if lock is None:
        raise in_use_by_another(folder, number)  # none of this study's: that trial has only just begun
    return _settled(study, definition, Claim(number, _held(study, number), {}, False, lock), order)


def _settled(study: optuna.Study, definition: Definition, claim: Claim, order: Order) -> Claim | None:
    """The claim with all that its trial tries; None where there is nothing to try, and then the trial has failed."""
    if claim.number >= order.trials and not claim.trial.params:
        # Other machines began the last ones at the same moment.
        _fail(study, claim.trial, f"it was withdrawn, as {order.trials} trials had been begun before it")
        claim.lock.release()
        return None
    draws = sampler(order.sampler, definition.base.seed, claim.number)
    try:
        trial = drawn_whole(study, claim.number, definition.space, draws)
    except NotOfTheSpaceError as error:
        cause = f"what it was to try does not fit the space: {error}"
        _fail(study, claim.trial, cause)
        claim.lock.release()
        order.gave_up(claim.number, cause, False)
        return None
    trial.set_user_attr(RUN, run_name(order.name, claim.number))
    return replace(claim, trial=trial, drawn=dict(trial.params))


def _held(study: optuna.Study, number: int) -> optuna.Trial:
    return optuna.Trial(study, study.get_trials(deepcopy=False)[number]._trial_id)


def _left_behind(
    study: optuna.Study, definition: Definition, trial: FrozenTrial, folder: StudyFolder, order: Order
) -> Claim | None:
    """The trial, if it was begun from this folder and nobody is at work on it any more."""
    if PLACE not in trial.user_attrs:
        # Of a process that asked for it otherwise, and died before it said whose it is, or is just there.
        begun = trial.datetime_start
        if begun is not None and datetime.now() - begun > _NEVER_BEGUN:
            _fail(study, optuna.Trial(study, trial._trial_id), "its process died before it began")
        return None
    if trial.user_attrs[PLACE] != folder.identity():
        return None
    lock = folder.hold(trial.number)
    if lock is None:
        return None
    # Asked again, now that nobody else can end it.
    now = study.get_trials(deepcopy=False)[trial.number]
    times = int(now.user_attrs.get(TAKEN_UP, 0)) + 1
    if now.state != TrialState.RUNNING:
        lock.release()
        return None
    held = optuna.Trial(study, now._trial_id)
    if times > MOST_TIMES_TAKEN_UP:
        broke = now.user_attrs.get(BROKE)
        how = f"its process was lost {times} times" + (f", to CUDA ({broke})," if broke else "")
        cause = f"{how} with no evaluation in between, so it is not tried again"
        _fail(study, held, cause)
        lock.release()
        order.gave_up(now.number, cause, True)
        return None
    held.set_user_attr(TAKEN_UP, times)
    return _settled(study, definition, Claim(now.number, held, {}, True, lock), order)


def _fail(study: optuna.Study, trial: optuna.Trial, cause: str) -> None:
    trial.set_user_attr(CAUSE, cause)
    study.tell(trial, state=TrialState.FAIL)
