"""The last layers: features to action parameters, and to a value."""

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from respawn.contracts.world import ActionSpec, ContinuousActions
from respawn.maths.distributions import distribution_for


class NoisyLinear(nn.Module):
    """A linear layer with learned, factorised noise on its weights (Fortunato et al. 2018, arXiv 1706.10295).

    The noise is a draw that stays until the next; it is not part of the weights, and zero until it is first drawn.
    """

    noise_in: Tensor
    noise_out: Tensor

    def __init__(self, num_inputs: int, num_outputs: int, initial_noise: float = 0.5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_outputs, num_inputs))
        self.bias = nn.Parameter(torch.zeros(num_outputs))
        scale = initial_noise / math.sqrt(num_inputs)
        self.weight_noise = nn.Parameter(torch.full((num_outputs, num_inputs), scale))
        self.bias_noise = nn.Parameter(torch.full((num_outputs,), scale))
        self.register_buffer("noise_in", torch.zeros(num_inputs), persistent=False)
        self.register_buffer("noise_out", torch.zeros(num_outputs), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """[..., num_inputs] to [..., num_outputs], through the mean weights and the noise as it was last drawn."""
        mean = functional.linear(features, self.weight, self.bias)
        disturbance = functional.linear(features * self.noise_in, self.weight_noise, self.bias_noise)
        return mean + self.noise_out * disturbance

    @torch.no_grad()
    def sample_noise(self, generator: Generator) -> None:
        """Draw the noise anew."""
        for noise in (self.noise_in, self.noise_out):
            drawn = torch.randn(noise.shape, generator=generator, device=generator.device)
            noise.copy_(drawn.sign() * drawn.abs().sqrt())

    def clear_noise(self) -> None:
        """Go back to the mean weights."""
        self.noise_in.zero_()
        self.noise_out.zero_()


class PolicyHead(nn.Module):
    """Features to the parameters of a distribution over actions; nearly indifferent before anything is learned."""

    def __init__(self, num_features: int, actions: ActionSpec, *, noisy: bool) -> None:
        super().__init__()
        num_outputs = distribution_for(actions).num_parameters
        self.log_std: nn.Parameter | None = None
        if isinstance(actions, ContinuousActions):
            # How widely to try is learned, but not made to depend on what is seen (as usual for policy gradients).
            self.log_std = nn.Parameter(torch.zeros(actions.size))
            num_outputs = actions.size
        self.linear = _linear(num_features, num_outputs, gain=0.01, noisy=noisy)

    def forward(self, features: Tensor) -> Tensor:
        """[..., F] to [..., P]."""
        parameters: Tensor = self.linear(features)
        if self.log_std is None:
            return parameters
        return torch.cat([parameters, self.log_std.expand_as(parameters)], -1)


class ValueHead(nn.Module):
    """Features to one number."""

    def __init__(self, num_features: int, *, noisy: bool) -> None:
        super().__init__()
        self.linear = _linear(num_features, 1, gain=1.0, noisy=noisy)

    def forward(self, features: Tensor) -> Tensor:
        """[..., F] to [...]."""
        values: Tensor = self.linear(features)
        return values.squeeze(-1)


def _linear(num_inputs: int, num_outputs: int, *, gain: float, noisy: bool) -> nn.Linear | NoisyLinear:
    linear = NoisyLinear(num_inputs, num_outputs) if noisy else nn.Linear(num_inputs, num_outputs)
    nn.init.orthogonal_(linear.weight, gain=gain)
    nn.init.zeros_(linear.bias)
    return linear
