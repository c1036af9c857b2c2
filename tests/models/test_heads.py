import pytest
import torch

from respawn.contracts.world import ContinuousActions, DiscreteActions
from respawn.maths.seeding import make_generator
from respawn.models.heads import NoisyLinear, PolicyHead, ValueHead


def test_a_policy_head_begins_small():
    head = PolicyHead(16, DiscreteActions(4), noisy=False)
    assert head(torch.ones(5, 16)).abs().max().item() < 0.05
    assert head(torch.ones(2, 5, 16)).shape == (2, 5, 4)


def test_the_width_of_a_gaussian_does_not_depend_on_what_is_seen():
    head = PolicyHead(16, ContinuousActions(3), noisy=False)
    assert head.log_std is not None
    with torch.no_grad():
        head.log_std.copy_(torch.tensor([0.1, 0.2, 0.3]))
    parameters = head(torch.randn(2, 5, 16, generator=make_generator(0)))
    assert parameters.shape == (2, 5, 6)
    assert torch.equal(parameters[..., 3:], torch.tensor([0.1, 0.2, 0.3]).expand(2, 5, 3))


def test_a_value_head_answers_one_number_a_row():
    assert ValueHead(16, noisy=False)(torch.ones(2, 5, 16)).shape == (2, 5)


def test_noise_is_the_outer_product_of_two_draws():
    layer = NoisyLinear(3, 2)
    with torch.no_grad():
        layer.weight.normal_(generator=make_generator(0))
    features = torch.randn(4, 3, generator=make_generator(1))
    torch.testing.assert_close(layer(features), torch.nn.functional.linear(features, layer.weight, layer.bias))
    layer.sample_noise(make_generator(2))
    weight = layer.weight + layer.weight_noise * torch.outer(layer.noise_out, layer.noise_in)
    bias = layer.bias + layer.bias_noise * layer.noise_out
    torch.testing.assert_close(layer(features), torch.nn.functional.linear(features, weight, bias))


def test_noise_is_no_part_of_the_weights():
    layer = NoisyLinear(3, 2)
    layer.sample_noise(make_generator(0))
    assert sorted(layer.state_dict()) == ["bias", "bias_noise", "weight", "weight_noise"]


def test_noise_has_the_spread_of_the_paper():
    layer = NoisyLinear(20_000, 1)
    layer.sample_noise(make_generator(0))
    # The square of sign(x) * sqrt(|x|) is |x|, whose mean is sqrt(2 / pi).
    assert layer.noise_in.square().mean().item() == pytest.approx((2 / torch.pi) ** 0.5, abs=0.02)
    assert layer.noise_in.mean().item() == pytest.approx(0.0, abs=0.02)
