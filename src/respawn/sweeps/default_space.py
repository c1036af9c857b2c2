"""What is searched where nobody says what: around the numbers of the preset, by what its learner and model are."""

from itertools import product
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError
from respawn.learners.ppo.config import PPOConfig
from respawn.sweeps.space import Span, check_space, nested, space_from_plain
from respawn.training.config import RunConfig
from respawn.training.config_file import with_settings
from respawn.worlds.fish.config import FishConfig

_WIDTHS = ((64, 64), (128, 128), (256, 256))
_CHANNELS = ((16, 32, 32), (24, 48, 48), (32, 64, 64))


def default_space(base: RunConfig) -> dict[str, Span]:
    """Learning rate, entropy cost, what the learner trusts, how wide the network is, whether it remembers, horizon.

    Nobody asked for any of it by name, so what does not go with `base` is left out and not refused.
    """
    said: dict[str, Any] = {
        "learner.optimizer.learning_rate": _around(base.learner.optimizer.learning_rate, 5.0),
        "learner.entropy_cost": _around(base.learner.entropy_cost or 0.003, 5.0),
        "learner.trace_decay": {"low": 0.8, "high": 1.0},
    }
    curriculum = base.schedules.curriculum
    # With another horizon a trial makes more updates or fewer, and phases are counted in updates.
    if curriculum is None or not curriculum.phases:
        horizon = base.collection.horizon_steps
        # All are judged after as many decisions, which must come out as a whole number of updates.
        longer = [horizon * 2] if base.evaluation.every_updates % 2 == 0 else []
        if horizon % 2 == 0:
            said["collection.horizon_steps"] = [horizon // 2, horizon, *longer]
    if isinstance(base.learner, PPOConfig):
        said["learner.clip"] = {"low": 0.1, "high": 0.4}
    else:
        said["learner.rho_clip"] = {"low": 0.5, "high": 2.0, "log": True}
    said |= _of_the_model(base)
    space = space_from_plain(nested(_that_fit(said, base)), base)
    check_space(space, base)
    return space


def _around(value: float, factor: float) -> dict[str, Any]:
    """From a part of a value to as many times it, to two digits."""
    return {"low": float(f"{value / factor:.2g}"), "high": float(f"{value * factor:.2g}"), "log": True}


def _of_the_model(base: RunConfig) -> dict[str, Any]:
    if base.model.encoder == "impala":
        return {"model.channels": [list(each) for each in _CHANNELS]}
    said: dict[str, Any] = {"model.hidden_sizes": [list(each) for each in _WIDTHS]}
    # A fish's lane is handed to another when its school begins anew, so it must not remember.
    if not isinstance(base.world, FishConfig):
        cores = dict.fromkeys((base.model.core, "gru"))
        if base.model.core == "gru":
            cores = dict.fromkeys(("gru", "lstm"))
        said["model.core"] = list(cores)
    return said


def _that_fit(said: dict[str, Any], base: RunConfig) -> dict[str, Any]:
    """The same without choices that do not go with `base` and all choices before them.

    A GRU, say, where there are fewer lanes than minibatches. A setting with less than two choices left is not searched.
    """
    kept: dict[str, Any] = {}
    for name, choices in said.items():
        if not isinstance(choices, list):
            kept[name] = choices
            continue
        before = {other: values for other, values in kept.items() if isinstance(values, list)}
        combinations = [dict(zip(before, values, strict=True)) for values in product(*before.values())]
        fitting = [
            choice for choice in choices if all(_fits({**others, name: choice}, base) for others in combinations)
        ]
        if len(fitting) > 1:
            kept[name] = fitting
    return kept


def _fits(settings: dict[str, Any], base: RunConfig) -> bool:
    try:
        with_settings(base, nested(settings), Path())
    except ConfigError:
        return False
    return True
