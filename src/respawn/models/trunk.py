"""An encoder and the core behind it: observations in, features with a past out."""

from torch import Tensor, nn

from respawn.contracts.records import Memory
from respawn.models.cores import Core, CoreOutput
from respawn.models.encoders import Encoder


class Trunk(nn.Module):
    """What a head stands on. A policy and a value may share one, or have one each."""

    def __init__(self, encoder: Encoder, core: Core) -> None:
        super().__init__()
        self.encoder = encoder
        self.core = core

    def step(self, observation: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """One row [B, ...] to ([B, H], the memory after it)."""
        return self.core.step(self.encoder(observation), memory)

    def forward(
        self, observations: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_observations: Tensor
    ) -> CoreOutput:
        """T rows at once, as if `step` had been called row by row; see `Core.forward`."""
        output: CoreOutput = self.core(self.encoder(observations), memory, starts, cuts, self.encoder(cut_observations))
        return output
