"""Networks that turn one observation into features. Leading dimensions, [B] or [T, B], are arbitrary."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional


class Encoder(nn.Module):
    """Observation [..., *shape] in, features [..., num_features] out."""

    num_features: int

    def forward(self, observations: Tensor) -> Tensor:
        """Encode each observation by itself."""
        raise NotImplementedError


class MLPEncoder(Encoder):
    """Layers one after the other, for observations of any shape; bytes are scaled to [0, 1]."""

    def __init__(self, shape: tuple[int, ...], hidden_sizes: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self._num_dims = len(shape)
        sizes = (math.prod(shape), *hidden_sizes)
        layers: list[nn.Module] = []
        for size, next_size in pairwise(sizes):
            linear = nn.Linear(size, next_size)
            nn.init.orthogonal_(linear.weight, gain=math.sqrt(2.0))
            nn.init.zeros_(linear.bias)
            layers += [linear, nn.Tanh() if activation == "tanh" else nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.num_features = sizes[-1]

    def forward(self, observations: Tensor) -> Tensor:
        """[..., *shape] to [..., num_features]."""
        if self._num_dims == 0:
            flat = observations.unsqueeze(-1)
        else:
            flat = observations.flatten(-self._num_dims) if self._num_dims > 1 else observations
        if flat.dtype == torch.uint8:
            flat = flat.float() / 255.0
        features: Tensor = self.layers(flat)
        return features


class ResidualBlock(nn.Module):
    """Two convolutions, added to what came in."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(num_channels, num_channels, 3, padding=1)
        self.second = nn.Conv2d(num_channels, num_channels, 3, padding=1)

    def forward(self, pictures: Tensor) -> Tensor:
        """[N, C, H, W] to the same."""
        inner: Tensor = self.first(functional.relu(pictures))
        inner = self.second(functional.relu(inner))
        return pictures + inner


class ImpalaEncoder(Encoder):
    """The residual network of IMPALA (Espeholt et al. 2018, figure 3), for uint8 pictures of any size."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, ...], num_features: int) -> None:
        super().__init__()
        num_channels, height, width = shape
        stages: list[nn.Module] = []
        for stage_channels in channels:
            stages += [
                nn.Conv2d(num_channels, stage_channels, 3, padding=1),
                nn.MaxPool2d(3, stride=2, padding=1),
                ResidualBlock(stage_channels),
                ResidualBlock(stage_channels),
            ]
            num_channels, height, width = stage_channels, (height + 1) // 2, (width + 1) // 2
        self.stages = nn.Sequential(*stages)
        self.output = nn.Linear(num_channels * height * width, num_features)
        nn.init.orthogonal_(self.output.weight, gain=math.sqrt(2.0))
        nn.init.zeros_(self.output.bias)
        self.num_features = num_features

    def forward(self, observations: Tensor) -> Tensor:
        """uint8 [..., C, H, W] to [..., num_features]."""
        leading = observations.shape[:-3]
        pictures = observations.reshape(-1, *observations.shape[-3:]).float() / 255.0  # [N, C, H, W]
        maps: Tensor = functional.relu(self.stages(pictures))
        features = functional.relu(self.output(maps.flatten(1)))
        return features.reshape(*leading, self.num_features)
