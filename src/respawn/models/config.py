"""What network a run trains."""

from dataclasses import dataclass
from typing import Literal

from respawn.contracts.settings import check_at_least
from respawn.errors import ConfigError


@dataclass(frozen=True)
class ModelConfig:
    """An encoder, a core that may remember, and two heads."""

    encoder: Literal["auto", "mlp", "impala"] = "auto"
    """what turns an observation into features; auto: impala for uint8 pictures, mlp for everything else"""
    hidden_sizes: tuple[int, ...] = (64, 64)
    """mlp: width of each layer"""
    activation: Literal["tanh", "relu"] = "tanh"
    """mlp: what bends the line between layers"""
    channels: tuple[int, ...] = (16, 32, 32)
    """impala: channels of each residual stage; a stage halves height and width"""
    patch: int = 1
    """impala: pixels of a square this wide and high go in as channels of one place; 2 makes it four times as fast"""
    cuda_graphs: bool = False
    """impala, on a GPU: record its kernels and replay them as one; needs collection.lag 0 and no accumulation"""
    feature_size: int = 256
    """impala: how many features come out"""
    core: Literal["none", "gru", "lstm", "transformer"] = "none"
    """what remembers earlier steps of the episode"""
    core_size: int = 128
    """gru, lstm, transformer: width of the core"""
    transformer_layers: int = 2
    """transformer: how many blocks of attention"""
    transformer_heads: int = 4
    """transformer: how many things a block can look for at once; must divide core-size"""
    transformer_window: int = 64
    """transformer: how many earlier steps a block can look back at"""
    separate_value: bool = False
    """give the value its own encoder and core, so that it shares nothing with the policy"""
    noisy: bool = False
    """let the heads explore by noise on their weights (Fortunato et al. 2018), as much as they learn to"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """in what numbers encoder and core compute; weights, memory and heads are float32 either way"""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        for name in ("hidden_sizes", "channels"):
            widths: tuple[int, ...] = getattr(self, name)
            if any(width < 1 for width in widths):
                option = name.replace("_", "-")
                raise ConfigError(f"model.{option} must all be at least 1, but are {widths}; leave out the empty ones")
        if not self.channels:
            raise ConfigError("model.channels must name at least one stage, but is empty; 16 32 32 is usual")
        sizes = ("patch", "feature_size", "core_size", "transformer_layers", "transformer_heads", "transformer_window")
        check_at_least("model.", self, dict.fromkeys(sizes, 1))
        if self.core == "transformer" and self.core_size % self.transformer_heads != 0:
            raise ConfigError(
                f"model.core-size ({self.core_size}) must be a multiple of model.transformer-heads "
                f"({self.transformer_heads}); change one of them"
            )
