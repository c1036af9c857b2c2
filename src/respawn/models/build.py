"""A world's shapes and a config make a model."""

import torch

from respawn.contracts.world import ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.maths.distributions import distribution_for
from respawn.maths.seeding import derive_seed
from respawn.models.actor_critic import ActorCritic
from respawn.models.config import ModelConfig
from respawn.models.cores import Core, NoCore, RecurrentCore
from respawn.models.encoders import Encoder, ImpalaEncoder, MLPEncoder
from respawn.models.heads import PolicyHead, ValueHead
from respawn.models.transformer import TransformerCore
from respawn.models.trunk import Trunk


def build_model(spec: WorldSpec, config: ModelConfig, *, seed: int, device: torch.device | str = "cpu") -> ActorCritic:
    """A fresh model: the same weights for the same seed on every device; no other chance is touched."""
    # Weights are drawn on the CPU from its global generator (torch's initialisers know no other), which is put back.
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(derive_seed(seed, "model"))
        trunk = _trunk(spec.observation, config)
        value_trunk = _trunk(spec.observation, config) if config.separate_value else None
        num_features = trunk.core.num_features
        model = ActorCritic(
            trunk=trunk,
            value_trunk=value_trunk,
            policy_head=PolicyHead(num_features, spec.actions, noisy=config.noisy),
            value_head=ValueHead(num_features, noisy=config.noisy),
            distribution=distribution_for(spec.actions),
            precision=config.precision,
        )
    return model.to(device)


def _trunk(observation: ObservationSpec, config: ModelConfig) -> Trunk:
    encoder = _encoder(observation, config)
    return Trunk(encoder, _core(encoder.num_features, config))


def _encoder(observation: ObservationSpec, config: ModelConfig) -> Encoder:
    is_picture = observation.dtype == "uint8" and len(observation.shape) == 3
    if config.encoder == "impala" and not is_picture:
        raise ConfigError(
            "model.encoder 'impala' expects uint8 pictures [channels, height, width], but this world shows "
            f"{observation.dtype} of shape {observation.shape}; use 'mlp' or 'auto'"
        )
    if is_picture and config.encoder != "mlp":
        num_channels, height, width = observation.shape
        if height % config.patch or width % config.patch:
            raise ConfigError(
                f"model.patch ({config.patch}) must divide the pictures' height and width, {height} and {width}; use 1"
            )
        return ImpalaEncoder(
            (num_channels, height, width),
            config.channels,
            config.feature_size,
            patch=config.patch,
            cuda_graphs=config.cuda_graphs,
        )
    return MLPEncoder(observation.shape, config.hidden_sizes, config.activation)


def _core(num_features: int, config: ModelConfig) -> Core:
    if config.core == "none":
        return NoCore(num_features)
    if config.core == "transformer":
        return TransformerCore(
            num_features,
            config.core_size,
            config.transformer_layers,
            config.transformer_heads,
            config.transformer_window,
        )
    return RecurrentCore(config.core, num_features, config.core_size)
