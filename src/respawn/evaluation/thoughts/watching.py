"""Playing one episode, and keeping all that the policy thought in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from respawn.contracts.records import Episode, Memory
from respawn.contracts.world import ActionSpec, StepResult, World
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.thoughts.notes import Notes
from respawn.models.actor_critic import ActorCritic

Noted: TypeAlias = Mapping[str, float | str]


@dataclass(frozen=True)
class Watched:
    """One episode, step by step, of all lanes that lived in it: one in most worlds, a school's in the fish world."""

    actions_spec: ActionSpec
    action_names: tuple[str, ...]
    parameters: Tensor  # [T, L, P] of the distributions over actions
    actions: Tensor  # [T, L] or [T, L, A]
    likeliest: Tensor  # [T, L] or [T, L, A] the actions that a greedy policy would have taken
    entropy: Tensor  # [T, L] nats
    values: Tensor  # [T, L]
    rewards: Tensor  # [T, L]
    followed: Tensor  # [T, L] the discounted return that really followed
    present: Tensor  # [T, L] bool: somebody was there to decide
    noted: tuple[Noted, ...]
    """what the world had to say beside, a step each"""
    episode: Episode
    is_cut: bool
    """it did not end by itself: what would have followed on its last step is the policy's own estimate"""


@dataclass(frozen=True)
class _Row:
    parameters: Tensor
    actions: Tensor
    likeliest: Tensor
    values: Tensor
    rewards: Tensor
    present: Tensor
    terminated: Tensor
    beyond: Tensor  # [L] what is expected after a step behind which nothing more is seen; else 0
    last: Tensor  # [L] bool: nothing more is seen


@torch.no_grad()
def watch(
    world: World,
    model: ActorCritic,
    seeds: Sequence[int],
    generator: Generator | None,
    *,
    limit_steps: int,
    discount: float,
    notes: Notes,
) -> Watched:
    """Play one episode from its first step to its end.

    Args:
      world: whose lanes all live in one episode.
      model: on a device of its own; what it remembers is carried from step to step.
      seeds: one a lane.
      generator: draws the actions; None: the likeliest are taken.
      limit_steps: an episode that is longer is left, and counted as unfinished.
      discount: worth of a reward one step later, for the return that followed.
      notes: what to write down of the world in each step.
    """
    device = next(model.parameters()).device
    observation = world.reset(seeds)
    memory = model.initial_memory(len(seeds))
    rows: list[_Row] = []
    noted: list[Noted] = []
    episode: Episode | None = None
    while episode is None:
        present = world.present().cpu().clone()  # the world goes on in place
        before = notes.before(world)
        decision, parameters = model.inspect(observation.to(device), memory, generator)
        memory = decision.memory
        result = world.step(decision.actions.to(observation.device))
        observation = result.observation
        noted.append({**before, **notes.after(world)})
        episode = result.episodes[0] if result.episodes else None
        is_left = episode is None and len(rows) + 1 == limit_steps
        last, beyond = _beyond(model, result, memory, is_left=is_left)
        rows.append(
            _Row(
                parameters=parameters.float().cpu(),
                actions=decision.actions.cpu(),
                likeliest=model.distribution.mode(parameters).cpu(),
                values=decision.values.float().cpu(),
                rewards=result.reward.float().cpu().clone(),
                present=present,
                terminated=result.terminated.cpu().clone(),
                beyond=beyond,
                last=last,
            )
        )
        if is_left:
            paid = sum(float(row.rewards[row.present].sum()) for row in rows) / world.spec.lanes_per_episode
            episode = Episode(0, paid, limit_steps, UNFINISHED, world.facts_so_far(0))
    parameters = torch.stack([row.parameters for row in rows])
    return Watched(
        actions_spec=world.spec.actions,
        action_names=world.spec.action_names,
        parameters=parameters,
        actions=torch.stack([row.actions for row in rows]),
        likeliest=torch.stack([row.likeliest for row in rows]),
        entropy=model.distribution.entropy(parameters),
        values=torch.stack([row.values for row in rows]),
        rewards=torch.stack([row.rewards for row in rows]),
        followed=_followed(rows, discount),
        present=torch.stack([row.present for row in rows]),
        noted=tuple(noted),
        episode=episode,
        is_cut=bool((rows[-1].last & rows[-1].present).any()),
    )


def _beyond(model: ActorCritic, result: StepResult, memory: Memory, *, is_left: bool) -> tuple[Tensor, Tensor]:
    """Which lanes are not seen on although they did not end, and what the policy expects there."""
    last = result.truncated | (~result.terminated if is_left else torch.zeros_like(result.truncated))
    beyond = torch.zeros(len(last))
    if bool(last.any()):
        seen = result.observation.clone()
        seen[result.truncated] = result.cut_observations.to(seen.dtype)
        device = next(model.parameters()).device
        beyond = torch.where(last.cpu(), model.act(seen.to(device), memory, None).values.float().cpu(), beyond)
    return last.cpu().clone(), beyond


def _followed(rows: Sequence[_Row], discount: float) -> Tensor:
    """[T, L] what was paid from each step on, later rewards discounted; backwards, as each builds on the next."""
    after = torch.zeros_like(rows[-1].rewards)
    backwards: list[Tensor] = []
    for row in reversed(rows):
        after = torch.where(row.last, row.beyond, after)
        after = row.rewards + discount * torch.where(row.terminated, 0.0, after)
        backwards.append(after)
    return torch.stack(backwards[::-1])
