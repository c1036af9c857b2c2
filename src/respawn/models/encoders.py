"""Networks that turn one observation into features. Leading dimensions, [B] or [T, B], are arbitrary."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from respawn.models.cuda_graphs import GraphedPasses


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


class ImpalaPass(nn.Module):
    """From pictures to features; it may share its parts with others of its kind."""

    def __init__(self, stages: nn.Module, output: nn.Module, patch: int) -> None:
        super().__init__()
        self.stages = stages
        self.output = output
        self._patch = patch

    def forward(self, pictures: Tensor) -> Tensor:
        """uint8 [N, C, H, W] to [N, num_features]."""
        # A GPU's convolutions are fastest with the channels last, in the numbers that they compute in.
        dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else torch.float32
        if self._patch > 1:
            pictures = _in_patches(pictures, self._patch)
        pictures = pictures.to(dtype, memory_format=_layout(pictures)) / 255.0
        maps: Tensor = functional.relu(self.stages(pictures))
        return functional.relu(self.output(maps.flatten(1)))


class ImpalaEncoder(Encoder):
    """The residual network of IMPALA (Espeholt et al. 2018, figure 3), for uint8 pictures of any size.

    With a patch of 2, each square of 2 x 2 pixels enters as four channels of one place: no pixel is lost, and all that
    follows has a quarter of the places to go over.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        channels: tuple[int, ...],
        num_features: int,
        *,
        patch: int = 1,
        cuda_graphs: bool = False,
    ) -> None:
        super().__init__()
        num_channels, height, width = shape[0] * patch**2, shape[1] // patch, shape[2] // patch
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
        # In a list, so that the parts that they share are not counted as parameters twice.
        self._passes = [self._make_pass(patch)]
        self._graphed = GraphedPasses(lambda: self._make_pass(patch)) if cuda_graphs else None

    def _make_pass(self, patch: int) -> ImpalaPass:
        return ImpalaPass(self.stages, self.output, patch)

    def forward(self, observations: Tensor) -> Tensor:
        """uint8 [..., C, H, W] to [..., num_features]."""
        leading = observations.shape[:-3]
        pictures = observations.reshape(-1, *observations.shape[-3:])
        features: Tensor = (self._graphed or self._passes[0])(pictures)
        return features.reshape(*leading, self.num_features)


def _in_patches(pictures: Tensor, patch: int) -> Tensor:
    """[N, C, H, W] to [N, C * patch * patch, H / patch, W / patch]."""
    if len(pictures) == 0:  # which torch would leave as it is
        _, channels, height, width = pictures.shape
        return pictures.reshape(0, channels * patch**2, height // patch, width // patch)
    return functional.pixel_unshuffle(pictures, patch)


def _layout(pictures: Tensor) -> torch.memory_format:
    return torch.channels_last if pictures.is_cuda else torch.contiguous_format
