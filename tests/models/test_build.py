import pytest
import torch
from replays import make_spec

from respawn.errors import ConfigError
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.models.cores import NoCore, RecurrentCore
from respawn.models.encoders import ImpalaEncoder, MLPEncoder
from respawn.models.transformer import TransformerCore

PICTURES = make_spec((1, 8, 8), pictures=True)


def test_the_same_seed_makes_the_same_weights_whatever_happened_before():
    torch.manual_seed(1)
    first = build_model(make_spec(), ModelConfig(core="lstm", noisy=True), seed=5).state_dict()
    torch.rand(7)
    second = build_model(make_spec(), ModelConfig(core="lstm", noisy=True), seed=5).state_dict()
    other = build_model(make_spec(), ModelConfig(core="lstm", noisy=True), seed=6).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["trunk.encoder.layers.0.weight"], other["trunk.encoder.layers.0.weight"])


def test_building_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    build_model(make_spec(), ModelConfig(), seed=5)
    assert torch.equal(torch.get_rng_state(), before)


def test_policy_and_separate_value_do_not_begin_alike():
    model = build_model(make_spec(), ModelConfig(separate_value=True), seed=0)
    assert not torch.equal(model.trunk.encoder.layers[0].weight, model.value_trunk.encoder.layers[0].weight)


def test_auto_chooses_the_encoder_by_what_is_seen():
    assert isinstance(build_model(PICTURES, ModelConfig(), seed=0).trunk.encoder, ImpalaEncoder)
    assert isinstance(build_model(PICTURES, ModelConfig(encoder="mlp"), seed=0).trunk.encoder, MLPEncoder)
    assert isinstance(build_model(make_spec((1, 8, 8)), ModelConfig(), seed=0).trunk.encoder, MLPEncoder)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (ModelConfig(), NoCore),
        (ModelConfig(core="gru"), RecurrentCore),
        (ModelConfig(core="lstm"), RecurrentCore),
        (ModelConfig(core="transformer"), TransformerCore),
    ],
)
def test_every_core_can_be_built(config: ModelConfig, kind: type):
    assert isinstance(build_model(make_spec(), config, seed=0).trunk.core, kind)


@pytest.mark.parametrize("spec", [make_spec(), make_spec((1, 8, 8)), make_spec((8,), pictures=True)])
def test_impala_refuses_what_is_not_a_picture(spec):
    with pytest.raises(ConfigError, match="impala"):
        build_model(spec, ModelConfig(encoder="impala"), seed=0)
