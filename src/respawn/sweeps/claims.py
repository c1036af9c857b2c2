"""Which trial is next: one that was left, or a new one. Never one that somebody else is at work on."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import optuna
from filelock import FileLock
from optuna.trial import FrozenTrial, TrialState

from respawn.errors import RunFolderError
from respawn.sweeps.definition import Definition
from respawn.sweeps.places import StudyFolder, run_name
from respawn.sweeps.space import Choice, Space
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
    gave_up: Callable[[int, str], None] = lambda number, cause: None
    """is told of a trial that is not taken up any more, and why"""


def claim_next(study: optuna.Study, definition: Definition, folder: StudyFolder, order: Order) -> Claim | None:
    """The next trial for this process; None: nothing is left that somebody else is not at work on."""
    with folder.choosing():
        place = folder.identity()
        trials = study.get_trials(deepcopy=False)
        for trial in trials:
            if trial.state == TrialState.RUNNING:
                claim = _left_behind(study, trial, folder, order)
                if claim is not None:
                    return claim
        if len(trials) >= order.trials:
            return None
        study.sampler = sampler(order.sampler, definition.base.seed, len(trials))
        fresh = _asked(study, _distributions(definition.space), {HOST: socket.gethostname(), PLACE: place})
        lock = folder.hold(fresh.number)
        assert lock is not None, "only this process knows of it"
        fresh.set_user_attr(RUN, run_name(order.name, fresh.number))
        return Claim(fresh.number, fresh, dict(fresh.params), False, lock)


def give_up(study: optuna.Study, folder: StudyFolder, number: int) -> None:
    """Have a trial fail that is left, whoever began it; raises RunFolderError where it is not, or not known to be.

    Args:
      study: the study.
      folder: its folder here.
      number: of the trial.
    """
    with folder.choosing():
        trials = study.get_trials(deepcopy=False)
        if not 0 <= number < len(trials):
            raise RunFolderError(f"there is no trial {number}; there are {len(trials)}, counted from 0")
        trial = trials[number]
        if trial.state != TrialState.RUNNING:
            raise RunFolderError(f"trial {number} has ended, and stays as it is; name one that is running")
        lock = folder.hold(number)
        if lock is None:
            raise RunFolderError(f"trial {number} is being worked on here; stop that sweep first, with Ctrl-C")
        try:
            _fail(study, trial, f"it was given up, left on {trial.user_attrs.get(HOST, 'an unknown machine')}")
        finally:
            lock.release()


def _asked(
    study: optuna.Study, distributions: dict[str, optuna.distributions.BaseDistribution], whose: dict[str, str]
) -> optuna.Trial:
    """A new trial that is in the study with all that was drawn for it and whose it is, or is not there at all.

    `study.ask` makes a trial, draws for it and could be told whose it is only then: a process that died in between left
    one that nobody knows to be free. So it is drawn in a copy.
    """
    trials = study.get_trials(deepcopy=False)
    if any(trial.state == TrialState.WAITING for trial in trials):  # enqueued, with Optuna's own means
        asked = study.ask(distributions)
        for name, value in whose.items():
            asked.set_user_attr(name, value)
        return asked
    copy = optuna.create_study(
        study_name=study.study_name, direction=study.direction, sampler=study.sampler, pruner=study.pruner
    )
    copy.add_trials(trials)
    drawn = copy.ask(distributions)
    study.add_trial(
        optuna.trial.create_trial(
            state=TrialState.RUNNING, params=drawn.params, distributions=drawn.distributions, user_attrs=whose
        )
    )
    # The newest of this folder: nobody else chooses here meanwhile.
    ours = [trial for trial in study.get_trials(deepcopy=False) if trial.user_attrs.get(PLACE) == whose[PLACE]]
    return optuna.Trial(study, ours[-1]._trial_id)


def _left_behind(study: optuna.Study, trial: FrozenTrial, folder: StudyFolder, order: Order) -> Claim | None:
    """The trial, if it was begun from this folder and nobody is at work on it any more."""
    if PLACE not in trial.user_attrs:
        # Of a process that asked for it otherwise, and died before it said whose it is, or is just there.
        begun = trial.datetime_start
        if begun is not None and datetime.now() - begun > _NEVER_BEGUN:
            _fail(study, trial, "its process died before it began")
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
    if times > MOST_TIMES_TAKEN_UP:
        broke = now.user_attrs.get(BROKE)
        how = f"its process was lost {times} times" + (f", to CUDA ({broke})," if broke else "")
        cause = f"{how} with no evaluation in between, so it is not tried again"
        _fail(study, now, cause)
        lock.release()
        order.gave_up(now.number, cause)
        return None
    held = optuna.Trial(study, now._trial_id)
    held.set_user_attr(TAKEN_UP, times)
    held.set_user_attr(RUN, run_name(order.name, now.number))  # its process may have died before it could say so
    return Claim(now.number, held, dict(now.params), True, lock)


def _fail(study: optuna.Study, trial: FrozenTrial, cause: str) -> None:
    held = optuna.Trial(study, trial._trial_id)
    held.set_user_attr(CAUSE, cause)
    study.tell(held, state=TrialState.FAIL)


def _distributions(space: Space) -> dict[str, optuna.distributions.BaseDistribution]:
    found: dict[str, optuna.distributions.BaseDistribution] = {}
    for name, span in space.items():
        if isinstance(span, Choice):
            found[name] = optuna.distributions.CategoricalDistribution(span.labels)
        elif span.is_whole:
            step = 1 if span.step is None else int(span.step)
            found[name] = optuna.distributions.IntDistribution(int(span.low), int(span.high), span.log, step)
        else:
            found[name] = optuna.distributions.FloatDistribution(span.low, span.high, span.log, span.step)
    return found
