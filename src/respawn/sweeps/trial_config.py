"""From a study and what was drawn for a trial to the run that the trial is."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError, StudyError
from respawn.sweeps.definition import Definition
from respawn.sweeps.space import Choice, Range, Space, nested
from respawn.training.config import RunConfig
from respawn.training.config_file import with_settings

_SIZES = ("collection.horizon_steps", "collection.num_lanes")
_MOST_ROUNDING = 0.05
"""Evaluations may come so much earlier or later than in other trials."""


def drawn_settings(space: Space, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What was drawn, by whole names: a list again where the study keeps its JSON.

    Raises StudyError for what cannot have been drawn from this space.
    """
    settings = {}
    for name, value in drawn.items():
        if not is_of_space(space, name, value):
            raise StudyError(
                f"a trial has {name} {value!r}, which the study's space does not hold, so respawn did not draw it; "
                "begin a study with another --name"
            )
        span = space[name]
        settings[name] = span.values[span.labels.index(value)] if isinstance(span, Choice) else value
    return settings


def is_of_space(space: Space, name: str, value: Any) -> bool:
    """Whether a trial of this space can have such a value."""
    span = space.get(name)
    return span is not None and span.holds(value)


def trial_config(
    definition: Definition, drawn: Mapping[str, Any], number: int, threads: int | None = None
) -> RunConfig:
    """The run of one trial; raises ConfigError where what was drawn does not go together.

    Args:
      definition: what all trials share.
      drawn: what this one has of its own, as the study keeps it.
      number: of the trial, from 0.
      threads: that torch may use, at most; None: as many as the settings say.
    """
    base = definition.base
    said = nested(drawn_settings(definition.space, drawn))
    config = with_equal_decisions(base, with_settings(base, said, Path()))
    fewest = config.threads if threads is None else min(config.threads or threads, threads)
    # Trials speak through the sweep: a console for each would only be in the others' way.
    return replace(config, seed=base.seed + number, threads=fewest, observers=replace(config.observers, console=False))


def check_decisions(definition: Definition) -> None:
    """Refuse a space in which some trial could not be given as many decisions as the others."""
    for name, span in definition.space.items():
        values: Iterable[Any] = span.tried
        if name in _SIZES and isinstance(span, Range) and span.is_whole:
            values = span.whole_values  # one may divide where its neighbour does not
        for value in values:
            with_equal_decisions(definition.base, with_settings(definition.base, nested({name: value}), Path()))


def with_equal_decisions(base: RunConfig, config: RunConfig) -> RunConfig:
    """The same with as many decisions, and evaluations after as many, as `base` has up to its last evaluation.

    A trial with half the horizon makes twice the updates: it would else be judged by half the experience.
    """
    ratio = base.collection.decisions_per_rollout / config.collection.decisions_per_rollout
    curriculum = base.schedules.curriculum
    has_phases = curriculum is not None and bool(curriculum.phases)
    if ratio != 1.0 and has_phases:
        raise ConfigError(
            f"phases are counted in updates, and a trial with {config.collection.decisions_per_rollout:,} decisions in "
            "a rollout would go through them at another pace; leave that setting out of the space"
        )
    wanted = base.evaluation.every_updates * ratio
    every = max(round(wanted), 1)
    if abs(every - wanted) > _MOST_ROUNDING * wanted:
        raise ConfigError(
            f"trials must be judged after as many decisions each, and with {config.collection.decisions_per_rollout:,} "
            f"in a rollout that would be every {wanted:.3g} updates, which is no whole number; set "
            "--evaluation.every-updates to a multiple"
        )
    # Whole evaluations, so that all trials have as many.
    whole = base.last_update // base.evaluation.every_updates * every
    evaluation = replace(config.evaluation, every_updates=every)
    if base.updates is None and not has_phases:
        return replace(config, planned_updates=whole, evaluation=evaluation)
    planned = max(round(base.planned_updates * ratio), whole)
    return replace(config, updates=whole, planned_updates=planned, evaluation=evaluation)
