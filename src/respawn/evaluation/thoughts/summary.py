"""What a policy's thoughts over a whole episode come to."""

from math import isfinite
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.world import ContinuousActions
from respawn.evaluation.thoughts.steps import choice_probabilities, greatest_entropy, names_of, taken
from respawn.evaluation.thoughts.watching import Watched
from respawn.maths.diagnostics import explained_variance

SURE = 0.9
"""A policy is sure of an action that it gives more than this."""
RANGE_END = 1.0
"""Where a world clips the numbers that a policy chooses."""


def summarise(watched: Watched) -> dict[str, Any]:
    """An episode in numbers, over all decisions of all its lanes. None is what cannot be said."""
    present = watched.present
    entropy = watched.entropy[present]
    greatest = greatest_entropy(watched.actions_spec)
    said: dict[str, Any] = {
        "decisions": int(present.sum()),
        "entropy_mean": float(entropy.mean()),
        "entropy_min": float(entropy.min()),
        "entropy_max": float(entropy.max()),
        "entropy_greatest": greatest,
        "entropy_share": None if greatest is None else float(entropy.mean()) / greatest,
        **_value(watched),
    }
    if isinstance(watched.actions_spec, ContinuousActions):
        return {**said, "numbers": _numbers(watched)}
    probabilities = choice_probabilities(watched)
    likeliest = torch.stack([choice.amax(-1)[present] for choice in probabilities], -1).prod(-1)
    same = (taken(watched) == _with_choices(watched.likeliest)).all(-1)[present]
    return {
        **said,
        "sure_share": float((likeliest > SURE).float().mean()),
        "likeliest_taken": float(same.float().mean()),
        "actions": _shares(watched),
    }


def _value(watched: Watched) -> dict[str, Any]:
    """What was expected beside what really followed."""
    values, followed = watched.values[watched.present].double(), watched.followed[watched.present].double()
    return {
        "value_mean": float(values.mean()),
        "followed_mean": float(followed.mean()),
        "value_correlation": _correlation(values, followed),
        "value_explained_variance": _explained(values, followed),
        "is_cut": watched.is_cut,
    }


def _correlation(one: Tensor, other: Tensor) -> float | None:
    """Pearson's; None where one of both never changes."""
    if len(one) < 2 or bool((one == one[0]).all()) or bool((other == other[0]).all()):
        return None
    correlation = float(torch.corrcoef(torch.stack([one, other]))[0, 1])
    return correlation if isfinite(correlation) else None


def _explained(values: Tensor, followed: Tensor) -> float | None:
    """How much of the returns' spread the values foretell; None where the returns have none."""
    if bool((followed == followed[0]).all()):
        return None
    return float(explained_variance(values.float(), followed.float(), torch.ones_like(values, dtype=torch.bool)))


def _shares(watched: Watched) -> list[dict[str, float]]:
    """For each choice the share of decisions that took each of its actions, by name, the most frequent first."""
    found: list[dict[str, float]] = []
    for at, names in enumerate(names_of(watched)):
        counts = torch.bincount(taken(watched)[..., at][watched.present], minlength=len(names)).tolist()
        shares = {name: count / sum(counts) for name, count in zip(names, counts, strict=True)}
        found.append(dict(sorted(shares.items(), key=lambda item: -item[1])))
    return found


def _numbers(watched: Watched) -> list[dict[str, float]]:
    """Of each number: what was taken, how widely it is drawn, and how often it lay where the world clips it."""
    actions = taken(watched)[watched.present]
    spreads = torch.chunk(watched.parameters[watched.present], 2, -1)[1].exp()
    return [
        {
            "mean": float(actions[:, at].mean()),
            "std": float(actions[:, at].std(correction=0)),
            "spread": float(spreads[:, at].mean()),
            "clipped": float((actions[:, at].abs() > RANGE_END).float().mean()),
        }
        for at in range(actions.shape[-1])
    ]


def _with_choices(actions: Tensor) -> Tensor:
    return actions.unsqueeze(-1) if actions.dim() == 2 else actions
