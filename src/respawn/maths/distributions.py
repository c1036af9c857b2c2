"""Distributions over actions. Stateless: parameters [..., P] come in, chance comes from an explicit generator.

Not `torch.distributions`: those draw from the global generator and cost more to build than a small batch to sample.
"""

import math
from typing import Protocol

import torch
from torch import Generator, Tensor

from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions


class ActionDistribution(Protocol):
    """One family of distributions; which one it is, the parameters say. Leading dimensions are arbitrary."""

    @property
    def num_parameters(self) -> int:
        """P, the last dimension of `parameters`."""
        ...

    def sample(self, parameters: Tensor, generator: Generator) -> Tensor:
        """One action for each row, drawn with a generator on the parameters' device."""
        ...

    def mode(self, parameters: Tensor) -> Tensor:
        """The likeliest action of each row."""
        ...

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        """[...] the log-probability (density) of each row's action."""
        ...

    def entropy(self, parameters: Tensor) -> Tensor:
        """[...] in nats."""
        ...

    def kl(self, parameters: Tensor, others: Tensor) -> Tensor:
        """[...] KL(parameters || others) in nats."""
        ...

    def tempered(self, parameters: Tensor, temperature: float) -> Tensor:
        """Parameters of a distribution that is more daring above temperature 1, and surer of itself below."""
        ...


_COLDEST = 1e-30
"""A temperature that is not 0 in single precision either; below it nothing is drawn any more."""


class Categorical:
    """One of `num_actions` choices; parameters are logits, actions int64 [...]."""

    def __init__(self, num_actions: int) -> None:
        self.num_parameters = num_actions

    def sample(self, parameters: Tensor, generator: Generator) -> Tensor:
        """The largest of the logits after each was given Gumbel noise: exact, and without a softmax."""
        return _perturbed(parameters, generator).argmax(-1)

    def mode(self, parameters: Tensor) -> Tensor:
        """The largest logit, the first among equals."""
        return parameters.argmax(-1)

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        """[...] of int64 actions [...]."""
        return parameters.log_softmax(-1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """[...], between 0 and log(num_actions)."""
        log_probs = parameters.log_softmax(-1)
        return -(log_probs.exp() * log_probs).sum(-1)

    def kl(self, parameters: Tensor, others: Tensor) -> Tensor:
        """[...] KL(parameters || others)."""
        log_probs = parameters.log_softmax(-1)
        return (log_probs.exp() * (log_probs - others.log_softmax(-1))).sum(-1)

    def tempered(self, parameters: Tensor, temperature: float) -> Tensor:
        """Logits divided by the temperature: which action is the likeliest stays, however near to 0 it is."""
        largest = parameters.amax(-1, keepdim=True)
        return (parameters - largest) / max(temperature, _COLDEST) + largest


class MultiCategorical:
    """Several independent choices; parameters are their logits side by side, actions int64 [..., len(sizes)]."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.num_parameters = sum(sizes)
        self._sizes = list(sizes)
        self._choices = [Categorical(size) for size in sizes]

    def sample(self, parameters: Tensor, generator: Generator) -> Tensor:
        """Each choice drawn on its own."""
        return self.mode(_perturbed(parameters, generator))

    def mode(self, parameters: Tensor) -> Tensor:
        """The likeliest of each choice."""
        return torch.stack([logits.argmax(-1) for logits in parameters.split_with_sizes(self._sizes, -1)], -1)

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        """[...] of all the choices together."""
        parts = zip(self._choices, parameters.split_with_sizes(self._sizes, -1), actions.unbind(-1), strict=True)
        return torch.stack([choice.log_prob(logits, action) for choice, logits, action in parts], -1).sum(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """[...], the sum over the choices."""
        parts = zip(self._choices, parameters.split_with_sizes(self._sizes, -1), strict=True)
        return torch.stack([choice.entropy(logits) for choice, logits in parts], -1).sum(-1)

    def kl(self, parameters: Tensor, others: Tensor) -> Tensor:
        """[...], the sum over the choices."""
        pairs = zip(
            self._choices,
            parameters.split_with_sizes(self._sizes, -1),
            others.split_with_sizes(self._sizes, -1),
            strict=True,
        )
        return torch.stack([choice.kl(logits, other) for choice, logits, other in pairs], -1).sum(-1)

    def tempered(self, parameters: Tensor, temperature: float) -> Tensor:
        """Every choice's logits, each divided by the temperature."""
        parts = zip(self._choices, parameters.split_with_sizes(self._sizes, -1), strict=True)
        return torch.cat([choice.tempered(logits, temperature) for choice, logits in parts], -1)


class DiagonalGaussian:
    """`size` independent normal numbers; parameters are the means, then the log standard deviations."""

    def __init__(self, size: int) -> None:
        self.num_parameters = 2 * size

    def sample(self, parameters: Tensor, generator: Generator) -> Tensor:
        """[..., size], not clipped: the world does that."""
        mean, log_std = parameters.chunk(2, -1)
        noise = torch.empty_like(mean).normal_(generator=generator)
        return torch.addcmul(mean, log_std.exp(), noise)

    def mode(self, parameters: Tensor) -> Tensor:
        """The means."""
        return parameters.chunk(2, -1)[0]

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        """[...] log-density of actions [..., size]."""
        mean, log_std = parameters.chunk(2, -1)
        distance = (actions - mean) * (-log_std).exp()
        return (-0.5 * distance.square() - log_std - 0.5 * math.log(2.0 * math.pi)).sum(-1)

    def entropy(self, parameters: Tensor) -> Tensor:
        """[...]; negative for narrow ones, as differential entropies are."""
        log_std = parameters.chunk(2, -1)[1]
        return (log_std + 0.5 * math.log(2.0 * math.pi * math.e)).sum(-1)

    def kl(self, parameters: Tensor, others: Tensor) -> Tensor:
        """[...] KL(parameters || others)."""
        mean, log_std = parameters.chunk(2, -1)
        other_mean, other_log_std = others.chunk(2, -1)
        variance_ratio = (2.0 * (log_std - other_log_std)).exp()
        distance = ((mean - other_mean) * (-other_log_std).exp()).square()
        return (0.5 * (variance_ratio + distance - 1.0) + other_log_std - log_std).sum(-1)

    def tempered(self, parameters: Tensor, temperature: float) -> Tensor:
        """The same means, and standard deviations times the temperature."""
        mean, log_std = parameters.chunk(2, -1)
        return torch.cat([mean, log_std + math.log(temperature)], -1)


def distribution_for(actions: ActionSpec) -> ActionDistribution:
    """The family that fits a world's actions."""
    if isinstance(actions, DiscreteActions):
        return Categorical(actions.num_actions)
    if isinstance(actions, ContinuousActions):
        return DiagonalGaussian(actions.size)
    return MultiCategorical(actions.sizes)


def _perturbed(logits: Tensor, generator: Generator) -> Tensor:
    """Logits plus Gumbel noise, which is minus the log of exponential noise (https://arxiv.org/abs/1411.0030)."""
    return logits - torch.empty_like(logits).exponential_(generator=generator).log_()
