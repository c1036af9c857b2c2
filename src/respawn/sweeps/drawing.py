"""What a trial tries: drawn by the study's seed and the trial's number. Which trial is next is not decided here."""

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial

from respawn.sweeps.space import Choice, Space, Span


def drawn_whole(study: optuna.Study, number: int, space: Space, sampler: optuna.samplers.BaseSampler) -> optuna.Trial:
    """A trial that is in the study, with a value for every setting; those that it has stay.

    All is drawn in a copy that ends with this trial, as if it had nothing yet. So it makes no difference whether a
    process died between two settings, nor which trials other machines have begun since.

    Args:
      study: the study.
      number: of the trial, which nobody else is at work on.
      space: what it may try.
      sampler: what draws, by this trial's number.

    Raises:
      ValueError: It was enqueued with a value that cannot be kept as one of the space.
    """
    trials = study.get_trials(deepcopy=False)
    trial = trials[number]
    if not space.keys() <= trial.params.keys():
        drawn = _drawn_in_a_copy(study, trials[: number + 1], space, sampler)
        for name, distribution in drawn.distributions.items():
            if name not in trial.params:
                kept = distribution.to_internal_repr(drawn.params[name])
                study._storage.set_trial_param(trial._trial_id, name, kept, distribution)
    return optuna.Trial(study, trial._trial_id)


def _drawn_in_a_copy(
    study: optuna.Study, trials: list[FrozenTrial], space: Space, sampler: optuna.samplers.BaseSampler
) -> optuna.Trial:
    """The last of these trials, drawn by what those before it came to."""
    *before, last = trials
    copy = optuna.create_study(
        study_name=study.study_name, direction=study.direction, sampler=sampler, pruner=study.pruner
    )
    copy.add_trials(before)
    # What Optuna keeps of one that was enqueued: the values that it is to have.
    copy.add_trial(create_trial(state=TrialState.RUNNING, system_attrs=last.system_attrs))
    drawn = optuna.Trial(copy, copy.get_trials(deepcopy=False)[-1]._trial_id)
    for name, span in space.items():
        _suggest(drawn, name, span)
    return drawn


def _suggest(trial: optuna.Trial, name: str, span: Span) -> None:
    if isinstance(span, Choice):
        trial.suggest_categorical(name, span.labels)
    elif span.is_whole:
        step = 1 if span.step is None else int(span.step)
        trial.suggest_int(name, int(span.low), int(span.high), step=step, log=span.log)
    else:
        trial.suggest_float(name, span.low, span.high, step=span.step, log=span.log)
