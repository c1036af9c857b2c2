"""A policy's thoughts in plain data: one row a step, of one lane."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions
from respawn.evaluation.thoughts.watching import Watched


@dataclass(frozen=True)
class Thought:
    """One decision of one lane."""

    step: int
    actions: tuple[str, ...]
    """what was taken: the action's name, one for each of several choices, or numbers"""
    probabilities: tuple[Mapping[str, float], ...]
    """of each choice's actions, by their names, in the world's order; none where actions are numbers"""
    means: tuple[float, ...]
    """where actions are numbers: what a greedy policy takes"""
    spreads: tuple[float, ...]
    """and how widely they are drawn: standard deviations"""
    entropy: float
    entropy_share: float | None
    """of the greatest possible; None where there is none, as for numbers"""
    value: float
    followed: float
    """the discounted return that really followed"""
    reward: float
    noted: Mapping[str, float | str]

    def likeliest(self, count: int) -> tuple[tuple[tuple[str, float], ...], ...]:
        """The likeliest actions of each choice and their probabilities, the likeliest first."""
        return tuple(tuple(sorted(choice.items(), key=lambda item: -item[1])[:count]) for choice in self.probabilities)

    def as_data(self) -> dict[str, Any]:
        """For JSON; a single choice stands without a list round it."""
        single = len(self.probabilities) == 1
        said: dict[str, Any] = {"step": self.step}
        if self.probabilities:
            said["action"] = self.actions[0] if single else list(self.actions)
            said["probabilities"] = dict(self.probabilities[0]) if single else [dict(p) for p in self.probabilities]
        else:
            said |= {"action": [float(number) for number in self.actions]}
            said |= {"means": list(self.means), "spreads": list(self.spreads)}
        said |= {"entropy": self.entropy}
        said |= {} if self.entropy_share is None else {"entropy_share": self.entropy_share}
        said |= {"value": self.value, "followed": self.followed, "reward": self.reward}
        return said | dict(self.noted)


def choice_sizes(actions: ActionSpec) -> tuple[int, ...]:
    """How many actions each choice has; none where actions are numbers."""
    if isinstance(actions, DiscreteActions):
        return (actions.num_actions,)
    return () if isinstance(actions, ContinuousActions) else actions.sizes


def greatest_entropy(actions: ActionSpec) -> float | None:
    """Nats of a policy to which all actions are alike; None where actions are numbers, for there is no limit then."""
    sizes = choice_sizes(actions)
    return sum(log(size) for size in sizes) if sizes else None


def choice_probabilities(watched: Watched) -> list[Tensor]:
    """[T, L, n] for each choice; none where actions are numbers."""
    sizes = choice_sizes(watched.actions_spec)
    if not sizes:
        return []
    return [logits.softmax(-1) for logits in watched.parameters.split_with_sizes(list(sizes), -1)]


def names_of(watched: Watched) -> list[tuple[str, ...]]:
    """What each choice's actions are called: their names where the world has any, else their numbers."""
    sizes = choice_sizes(watched.actions_spec)
    if len(sizes) == 1 and watched.action_names:
        return [watched.action_names]
    return [tuple(str(number) for number in range(size)) for size in sizes]


def taken(watched: Watched) -> Tensor:
    """[T, L, choices] of the actions, of one choice too."""
    return watched.actions.unsqueeze(-1) if watched.actions.dim() == 2 else watched.actions


def thoughts_of(watched: Watched, lane: int) -> list[Thought]:
    """The thoughts of one lane, in each step in which somebody was there."""
    return list(_thoughts(watched, lane))


def _thoughts(watched: Watched, lane: int) -> Iterator[Thought]:
    choices = [probabilities[:, lane].tolist() for probabilities in choice_probabilities(watched)]
    names, greatest = names_of(watched), greatest_entropy(watched.actions_spec)
    actions = taken(watched)[:, lane].tolist()
    means, spreads = _numbers(watched, lane)
    for step in watched.present[:, lane].nonzero().flatten().tolist():
        entropy = float(watched.entropy[step, lane])
        yield Thought(
            step=step,
            actions=tuple(called[int(at)] for called, at in zip(names, actions[step], strict=True))
            if choices
            else tuple(str(number) for number in actions[step]),
            probabilities=tuple(
                dict(zip(called, choice[step], strict=True)) for called, choice in zip(names, choices, strict=True)
            ),
            means=tuple(means[step]) if means else (),
            spreads=tuple(spreads[step]) if spreads else (),
            entropy=entropy,
            entropy_share=None if greatest is None else entropy / greatest,
            value=float(watched.values[step, lane]),
            followed=float(watched.followed[step, lane]),
            reward=float(watched.rewards[step, lane]),
            noted=watched.noted[step],
        )


def _numbers(watched: Watched, lane: int) -> tuple[list[list[float]], list[list[float]]]:
    """Means and standard deviations, where actions are numbers."""
    if not isinstance(watched.actions_spec, ContinuousActions):
        return [], []
    mean, log_std = torch.chunk(watched.parameters[:, lane], 2, -1)
    return mean.tolist(), log_std.exp().tolist()


def as_csv(thoughts: Sequence[Thought]) -> str:
    """A line for each step, with a column for each action's probability."""
    rows = [_flat(thought) for thought in thoughts]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["step"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(thought: Thought) -> dict[str, Any]:
    several = len(thought.actions) > 1
    row: dict[str, Any] = {"step": thought.step}
    for at, action in enumerate(thought.actions):
        row[f"action_{at}" if several else "action"] = action
    for at, choice in enumerate(thought.probabilities):
        row |= {f"p_{at}_{name}" if several else f"p_{name}": chance for name, chance in choice.items()}
    for at, (mean, spread) in enumerate(zip(thought.means, thought.spreads, strict=True)):
        row |= {f"mean_{at}": mean, f"spread_{at}": spread}
    row |= {"entropy": thought.entropy, "value": thought.value, "followed": thought.followed}
    return {**row, "reward": thought.reward, **thought.noted}
