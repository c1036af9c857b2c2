"""A rollout cut into minibatches: rows in any order without a core, whole lanes with one."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from respawn.contracts.records import Memory, Rollout
from respawn.learners.trainee import episode_starts
from respawn.maths.gae import GAE


@dataclass(frozen=True, slots=True)
class Minibatch:
    """t rows of b lanes to learn from. Rows without a core come as one row of many lanes."""

    observations: Tensor  # [t, b, ...]
    actions: Tensor  # [t, b] or [t, b, A]
    behaviour_log_probs: Tensor  # [t, b]
    advantages: Tensor  # [t, b]
    targets: Tensor  # [t, b]
    values: Tensor  # [t, b] before this update
    valid: Tensor  # [t, b] bool
    chosen: Tensor  # [t, b] bool; valid, and the policy's own choice, which alone can teach it
    starts: Tensor  # [t, b] bool
    memory: Memory  # [b, ...] before the first row

    def lanes(self, index: Tensor | slice) -> "Minibatch":
        """Some of the lanes."""
        return Minibatch(
            observations=_taken(self.observations, 1, index),
            actions=_taken(self.actions, 1, index),
            behaviour_log_probs=_taken(self.behaviour_log_probs, 1, index),
            advantages=_taken(self.advantages, 1, index),
            targets=_taken(self.targets, 1, index),
            values=_taken(self.values, 1, index),
            valid=_taken(self.valid, 1, index),
            chosen=_taken(self.chosen, 1, index),
            starts=_taken(self.starts, 1, index),
            memory={name: _taken(tensor, 0, index) for name, tensor in self.memory.items()},
        )

    def split(self, num_parts: int) -> Iterator["Minibatch"]:
        """The same rows in at most `num_parts` parts."""
        num_lanes = self.valid.shape[1]
        part = -(-num_lanes // num_parts)
        for first in range(0, num_lanes, part):
            yield self.lanes(slice(first, first + part))


def _taken(tensor: Tensor, dim: int, index: Tensor | slice) -> Tensor:
    """`tensor` at some places of one dimension."""
    if isinstance(index, slice):
        return tensor[index] if dim == 0 else tensor[:, index]
    # Copies whole rows, where tensor[:, index] goes from number to number: on a CPU that takes seven times as long.
    return tensor.index_select(dim, index)


def whole_batch(rollout: Rollout, values: Tensor, learned: GAE) -> Minibatch:
    """All T rows of all B lanes."""
    return Minibatch(
        observations=rollout.observations[:-1],
        actions=rollout.actions,
        behaviour_log_probs=rollout.behaviour_log_probs,
        advantages=learned.advantages,
        targets=learned.targets,
        values=values,
        valid=rollout.valid,
        chosen=rollout.valid & ~rollout.scripted,
        starts=episode_starts(rollout)[:-1],
        memory=rollout.memory,
    )


def one_row(batch: Minibatch) -> Minibatch:
    """The same steps as a single row of T·B lanes: without a core, their order does not matter."""
    return Minibatch(
        observations=batch.observations.flatten(0, 1)[None],
        actions=batch.actions.flatten(0, 1)[None],
        behaviour_log_probs=batch.behaviour_log_probs.reshape(1, -1),
        advantages=batch.advantages.reshape(1, -1),
        targets=batch.targets.reshape(1, -1),
        values=batch.values.reshape(1, -1),
        valid=batch.valid.reshape(1, -1),
        chosen=batch.chosen.reshape(1, -1),
        starts=batch.starts.reshape(1, -1),
        memory={},
    )


def shuffled(batch: Minibatch, num_minibatches: int, generator: Generator) -> Iterator[Minibatch]:
    """One pass over all lanes of `batch` in random order, in `num_minibatches` nearly equal parts.

    Lanes in which no step is valid are left out: they would only take up room.
    """
    candidates = batch.valid.any(0).nonzero().squeeze(1)
    if len(candidates) == 0:
        return
    order = candidates[torch.randperm(len(candidates), generator=generator, device=generator.device)]
    for index in order.tensor_split(min(num_minibatches, len(order))):
        yield batch.lanes(index)
