"""What a trial tries: drawn by the study's seed and the trial's number. Which trial is next is not decided here."""

from typing import Any, TypeAlias

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from respawn.errors import StudyError
from respawn.sweeps.space import Choice, Space, Span, space_to_plain
from respawn.sweeps.toml_text import toml_value

Distribution: TypeAlias = CategoricalDistribution | IntDistribution | FloatDistribution
_ENQUEUED = "fixed_params"
"""The attribute under which Optuna keeps what a trial was enqueued with."""


class NotOfTheSpaceError(StudyError):
    """A trial is to try what its study's space does not hold; others may well try something else."""


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
      NotOfTheSpaceError: It has, or was enqueued with, a value that the space does not hold.
    """
    trials = study.get_trials(deepcopy=False)
    trial = trials[number]
    _check_of_the_space(trial, space)
    if not space.keys() <= trial.params.keys():
        drawn = _drawn_in_a_copy(study, trials[: number + 1], space, sampler)
        for name, value in drawn.params.items():
            if name not in trial.params:
                _keep(study, trial, name, _within(value, space[name]), distribution_of(space[name]))
    return optuna.Trial(study, trial._trial_id)


def distribution_of(span: Span) -> Distribution:
    """A span as Optuna keeps it."""
    if isinstance(span, Choice):
        return CategoricalDistribution(span.labels)
    if span.is_whole:
        step = 1 if span.step is None else int(span.step)
        return IntDistribution(int(span.low), int(span.high), step=step, log=span.log)
    return FloatDistribution(span.low, span.high, step=span.step, log=span.log)


def _check_of_the_space(trial: FrozenTrial, space: Space) -> None:
    """Refuse what Optuna would keep: it only warns of a number out of range, and stumbles over it later."""
    said: dict[str, Any] = {**trial.system_attrs.get(_ENQUEUED, {}), **trial.params}
    for name, span in space.items():
        if name in said and not span.holds(said[name]):
            held = toml_value(space_to_plain({name: span})[name])
            raise NotOfTheSpaceError(f"{name} {said[name]!r} is not in {held}")


def _drawn_in_a_copy(
    study: optuna.Study, trials: list[FrozenTrial], space: Space, sampler: optuna.samplers.BaseSampler
) -> optuna.Trial:
    """The last of these trials, drawn by what those before it came to."""
    *before, last = trials
    copy = optuna.create_study(
        study_name=study.study_name, direction=study.direction, sampler=sampler, pruner=study.pruner
    )
    copy.add_trials([_as_of_the_space(trial, space) for trial in before])
    # What Optuna keeps of one that was enqueued: the values that it is to have.
    copy.add_trial(create_trial(state=TrialState.RUNNING, system_attrs=last.system_attrs))
    drawn = optuna.Trial(copy, copy.get_trials(deepcopy=False)[-1]._trial_id)
    for name, span in space.items():
        _suggest(drawn, name, span)
    return drawn


def _as_of_the_space(trial: FrozenTrial, space: Space) -> FrozenTrial:
    """The trial, with the space's own distributions; where the space does not hold what it tried, one of no account.

    Something else put such a one there, with settings or distributions that Optuna could refuse or go by. It is not
    left out, so that those after it have the same numbers in the copy.
    """
    if not all(name in space and space[name].holds(value) for name, value in trial.params.items()):
        return create_trial(state=TrialState.FAIL)
    return create_trial(
        state=trial.state,
        values=trial.values,
        params=trial.params,
        distributions={name: distribution_of(space[name]) for name in trial.params},
        intermediate_values=trial.intermediate_values,
        system_attrs=trial.system_attrs,
    )


def _suggest(trial: optuna.Trial, name: str, span: Span) -> None:
    asked = distribution_of(span)
    if isinstance(asked, CategoricalDistribution):
        trial.suggest_categorical(name, asked.choices)
    elif isinstance(asked, IntDistribution):
        trial.suggest_int(name, asked.low, asked.high, step=asked.step, log=asked.log)
    else:
        trial.suggest_float(name, asked.low, asked.high, step=asked.step, log=asked.log)


def _within(value: Any, span: Span) -> Any:
    """What was drawn, which may lie beyond an end by the rounding of a logarithm."""
    return value if isinstance(span, Choice) else min(max(value, span.low), span.high)


def _keep(study: optuna.Study, trial: FrozenTrial, name: str, value: Any, distribution: Distribution) -> None:
    kept = distribution.to_internal_repr(value)
    try:
        study._storage.set_trial_param(trial._trial_id, name, kept, distribution)
    except ValueError as error:
        raise StudyError(
            f"something else has put trials of another kind of {name} into the study, so that no value of it can be "
            f"kept ({error}); begin a study with another --name"
        ) from error
