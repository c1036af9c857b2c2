"""Encoder, core and heads put together: what acts, and what learners train."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import torch
from torch import Generator, Tensor, nn

from respawn.contracts.policy import Decision
from respawn.contracts.records import Memory
from respawn.maths.distributions import ActionDistribution
from respawn.models.cores import Core
from respawn.models.encoders import Encoder
from respawn.models.heads import NoisyLinear, PolicyHead, ValueHead


class Unrolled(NamedTuple):
    """What a model says about rows that were gathered before."""

    parameters: Tensor  # [T, B, P] float32, of the distribution over actions
    values: Tensor  # [T, B] float32
    cut_values: Tensor  # [K] float32
    memory: Memory  # [B, ...] after row T-1, without gradient


class ActorCritic(nn.Module):
    """A policy and a value; implements `contracts.policy.Policy`."""

    def __init__(
        self,
        *,
        encoder: Encoder,
        core: Core,
        policy_head: PolicyHead,
        value_head: ValueHead,
        value_encoder: Encoder | None,
        distribution: ActionDistribution,
        precision: Literal["float32", "bfloat16"],
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.core = core
        self.policy_head = policy_head
        self.value_head = value_head
        self.value_encoder = value_encoder
        self.distribution = distribution
        self._low_precision = precision == "bfloat16"
        self._noisy = tuple(module for module in self.modules() if isinstance(module, NoisyLinear))

    def initial_memory(self, num_lanes: int) -> Memory:
        """What is remembered at the start of an episode, on the model's device: zeros."""
        return self.core.initial_memory(num_lanes, next(self.parameters()).device)

    @torch.no_grad()
    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane, drawn with `generator`; without one, the likeliest.

        Args:
          observation: [B, ...].
          memory: [B, ...], zeros in lanes that begin an episode.
          generator: on the model's device.
        """
        with self._precision(observation):
            features, memory = self.core.step(self.encoder(observation), memory)
            value_features = features if self.value_encoder is None else self.value_encoder(observation)
        parameters = self.policy_head(features.float())
        if generator is None:
            actions = self.distribution.mode(parameters)
        else:
            actions = self.distribution.sample(parameters, generator)
        return Decision(
            actions=actions,
            log_probs=self.distribution.log_prob(parameters, actions),
            values=self.value_head(value_features.float()),
            memory=memory,
        )

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
            output = self.core(self.encoder(observations), memory, starts, cuts, self.encoder(cut_observations))
            features, cut_features = output.features, output.cut_features
            if self.value_encoder is None:
                value_features = features
            else:
                value_features = self.value_encoder(observations)
                cut_features = self.value_encoder(cut_observations)
        return Unrolled(
            parameters=self.policy_head(features.float()),
            values=self.value_head(value_features.float()),
            cut_values=self.value_head(cut_features.float()),
            memory={name: part.detach() for name, part in output.memory.items()},
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
