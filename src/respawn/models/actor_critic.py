"""Trunk and heads put together: what acts, and what learners train."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Generator, Tensor, nn

from respawn.contracts.policy import Decision
from respawn.contracts.records import Memory
from respawn.maths.distributions import ActionDistribution
from respawn.models.heads import NoisyLinear, PolicyHead, ValueHead
from respawn.models.trunk import Trunk


class Unrolled(NamedTuple):
    """What a model says about rows that were gathered before."""

    parameters: Tensor  # [T, B, P] float32, of the distribution over actions
    values: Tensor  # [T, B] float32
    cut_values: Tensor  # [K] float32
    memory: Memory  # [B, ...] after row T-1, without gradient


VALUE = "value."
"""What the names of a separate value's memory begin with."""


class ActorCritic(nn.Module):
    """A policy and a value; implements `contracts.policy.Policy`."""

    def __init__(
        self,
        *,
        trunk: Trunk,
        value_trunk: Trunk | None,
        policy_head: PolicyHead,
        value_head: ValueHead,
        distribution: ActionDistribution,
        precision: Literal["float32", "bfloat16"],
    ) -> None:
        super().__init__()
        self.trunk = trunk
        self.value_trunk = value_trunk
        self.policy_head = policy_head
        self.value_head = value_head
        self.distribution = distribution
        self._low_precision = precision == "bfloat16"
        self._noisy = tuple(module for module in self.modules() if isinstance(module, NoisyLinear))

    def initial_memory(self, num_lanes: int) -> Memory:
        """What is remembered at the start of an episode, on the model's device: zeros."""
        device = next(self.parameters()).device
        memory = self.trunk.core.initial_memory(num_lanes, device)
        if self.value_trunk is None:
            return memory
        return _joined(memory, self.value_trunk.core.initial_memory(num_lanes, device))

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane, drawn with `generator`; without one, the likeliest.

        Args:
          observation: [B, ...].
          memory: [B, ...], zeros in lanes that begin an episode.
          generator: on the model's device.
        """
        return self.inspect(observation, memory, generator)[0]

    @torch.no_grad()
    def inspect(self, observation: Tensor, memory: Memory, generator: Generator | None) -> tuple[Decision, Tensor]:
        """What `act` decides, and the parameters [B, P] of the distribution over actions that it decided by."""
        with self._precision(observation):
            if self.value_trunk is None:
                features, memory = self.trunk.step(observation, memory)
                value_features = features
            else:
                own, others = _parted(memory)
                features, own = self.trunk.step(observation, own)
                value_features, others = self.value_trunk.step(observation, others)
                memory = _joined(own, others)
        parameters = self.policy_head(features.float())
        if generator is None:
            actions = self.distribution.mode(parameters)
        else:
            actions = self.distribution.sample(parameters, generator)
        decision = Decision(
            actions=actions,
            log_probs=self.distribution.log_prob(parameters, actions),
            values=self.value_head(value_features.float()),
            memory=memory,
        )
        return decision, parameters

    def unroll(
        self, observations: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_observations: Tensor
    ) -> Unrolled:
        """Go over rows again, with gradient. Rows without order, [N, ...], go in as [1, N, ...].

        Args:
          observations: [T, B, ...]; any T, so that row T of a rollout may come along.
          memory: [B, ...] before row 0.
          starts: [T, B] bool, the rows that begin an episode.
          cuts: [K, 2] int64 (t, lane) on the CPU, sorted: after row t the lane's episode was cut short.
          cut_observations: [K, ...] what was seen last there; valued from what the lane remembered after row t.
        """
        with self._precision(observations):
            if self.value_trunk is None:
                output = value_output = self.trunk(observations, memory, starts, cuts, cut_observations)
                after = output.memory
            else:
                own, others = _parted(memory)
                output = self.trunk(observations, own, starts, cuts, cut_observations)
                value_output = self.value_trunk(observations, others, starts, cuts, cut_observations)
                after = _joined(output.memory, value_output.memory)
        return Unrolled(
            parameters=self.policy_head(output.features.float()),
            values=self.value_head(value_output.features.float()),
            cut_values=self.value_head(value_output.cut_features.float()),
            memory={name: part.detach() for name, part in after.items()},
        )

    def sample_noise(self, generator: Generator) -> None:
        """Draw the noise of noisy heads anew; nothing for the others."""
        for head in self._noisy:
            head.sample_noise(generator)

    def clear_noise(self) -> None:
        """Let noisy heads use their mean weights, as for evaluation."""
        for head in self._noisy:
            head.clear_noise()

    def _precision(self, observations: Tensor) -> AbstractContextManager[object]:
        if not self._low_precision:
            return nullcontext()
        return torch.autocast(observations.device.type, dtype=torch.bfloat16)


def _joined(memory: Memory, value_memory: Memory) -> Memory:
    """Both trunks' memory as one."""
    return {**memory, **{f"{VALUE}{name}": part for name, part in value_memory.items()}}


def _parted(memory: Memory) -> tuple[Memory, Memory]:
    """The policy's and the value's part of a joined memory."""
    own = {name: part for name, part in memory.items() if not name.startswith(VALUE)}
    return own, {name.removeprefix(VALUE): part for name, part in memory.items() if name.startswith(VALUE)}
