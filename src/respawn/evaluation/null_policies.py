"""Policies that know nothing, to show what is reached without learning."""

import torch
from torch import Generator, Tensor

from respawn.contracts.policy import Decision
from respawn.contracts.records import Memory


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


def _decided(actions: Tensor, log_probs: Tensor) -> Decision:
    return Decision(actions=actions, log_probs=log_probs, values=torch.zeros_like(log_probs), memory={})
