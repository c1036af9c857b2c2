"""Policies that know nothing, to show what is reached without learning."""

import math

import torch
from torch import Generator, Tensor

from respawn.contracts.policy import Decision, Policy
from respawn.contracts.records import Memory
from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions


class FixedPolicy:
    """Takes the same action always; implements `contracts.policy.Policy`."""

    def __init__(self, action: int) -> None:
        self._action = action

    def initial_memory(self, num_lanes: int) -> Memory:
        """It remembers nothing."""
        return {}

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """The action."""
        actions = torch.full((len(observation),), self._action, dtype=torch.int64, device=observation.device)
        return _decided(actions, torch.zeros(len(observation), device=observation.device))


class RandomPolicy:
    """Takes any action, all equally likely; implements `contracts.policy.Policy`."""

    def __init__(self, num_actions: int) -> None:
        self._num_actions = num_actions

    def initial_memory(self, num_lanes: int) -> Memory:
        """It remembers nothing."""
        return {}

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane; without a generator the first, since none is likelier than another."""
        device, num_lanes = observation.device, len(observation)
        if generator is None:
            actions = torch.zeros(num_lanes, dtype=torch.int64, device=device)
        else:
            actions = torch.randint(self._num_actions, (num_lanes,), generator=generator, device=device)
        return _decided(actions, -torch.full((num_lanes,), float(self._num_actions), device=device).log())


class RandomChoices:
    """Takes any of several choices' actions, all equally likely; implements `contracts.policy.Policy`."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._choices = [RandomPolicy(size) for size in sizes]

    def initial_memory(self, num_lanes: int) -> Memory:
        """It remembers nothing."""
        return {}

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane for every choice."""
        parts = [choice.act(observation, memory, generator) for choice in self._choices]
        actions = torch.stack([part.actions for part in parts], -1)
        return _decided(actions, torch.stack([part.log_probs for part in parts], -1).sum(-1))


class RandomNumbers:
    """Takes any numbers from -1 to 1, all equally likely; implements `contracts.policy.Policy`."""

    def __init__(self, size: int) -> None:
        self._size = size

    def initial_memory(self, num_lanes: int) -> Memory:
        """It remembers nothing."""
        return {}

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """So many numbers a lane; without a generator zeros, the middle of their ranges."""
        actions = torch.zeros(len(observation), self._size, device=observation.device)
        if generator is not None:
            actions.uniform_(-1.0, 1.0, generator=generator)
        return _decided(actions, torch.full_like(actions[:, 0], -self._size * math.log(2.0)))


def random_policy(actions: ActionSpec) -> Policy:
    """Takes any action that a world has, all equally likely."""
    if isinstance(actions, DiscreteActions):
        return RandomPolicy(actions.num_actions)
    if isinstance(actions, ContinuousActions):
        return RandomNumbers(actions.size)
    return RandomChoices(actions.sizes)


def _decided(actions: Tensor, log_probs: Tensor) -> Decision:
    return Decision(actions=actions, log_probs=log_probs, values=torch.zeros_like(log_probs), memory={})
