import math

import pytest
import torch
from torch import distributions as reference

from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions, MultiDiscreteActions
from respawn.maths.distributions import Categorical, DiagonalGaussian, MultiCategorical, distribution_for
from respawn.maths.seeding import make_generator

SPECS: list[ActionSpec] = [DiscreteActions(4), MultiDiscreteActions((2, 3)), ContinuousActions(2)]


def draw(*shape: int, name: str = "parameters") -> torch.Tensor:
    return torch.randn(*shape, generator=make_generator(0, name))


def normal(parameters: torch.Tensor) -> reference.Independent:
    mean, log_std = parameters.chunk(2, -1)
    return reference.Independent(reference.Normal(mean, log_std.exp()), 1)


def test_each_action_space_has_its_family():
    assert isinstance(distribution_for(DiscreteActions(3)), Categorical)
    assert isinstance(distribution_for(MultiDiscreteActions((3, 2))), MultiCategorical)
    assert isinstance(distribution_for(ContinuousActions(3)), DiagonalGaussian)
    assert [distribution_for(spec).num_parameters for spec in SPECS] == [4, 5, 4]


@pytest.mark.parametrize("leading", [(), (5,), (3, 5)])
@pytest.mark.parametrize("spec", SPECS)
def test_shapes_and_kinds(spec: ActionSpec, leading: tuple[int, ...]):
    family = distribution_for(spec)
    parameters = draw(*leading, family.num_parameters)
    others = draw(*leading, family.num_parameters, name="others")
    action_shape = {DiscreteActions: (), MultiDiscreteActions: (2,), ContinuousActions: (2,)}[type(spec)]
    for actions in (family.sample(parameters, make_generator(0)), family.mode(parameters)):
        assert actions.shape == leading + action_shape
        assert actions.dtype == (torch.float32 if isinstance(spec, ContinuousActions) else torch.int64)
        assert family.log_prob(parameters, actions).shape == leading
    assert family.entropy(parameters).shape == leading
    assert family.kl(parameters, others).shape == leading


@pytest.mark.parametrize("spec", SPECS)
def test_sampling_repeats_with_the_generator_and_leaves_the_global_one_alone(spec: ActionSpec):
    family = distribution_for(spec)
    parameters = draw(50, family.num_parameters)
    before = torch.get_rng_state()
    first, again, other = (family.sample(parameters, make_generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("spec", SPECS)
def test_the_mode_is_the_likeliest(spec: ActionSpec):
    family = distribution_for(spec)
    parameters = draw(20, family.num_parameters)
    best = family.log_prob(parameters, family.mode(parameters))
    generator = make_generator(3)
    for _ in range(20):
        assert (family.log_prob(parameters, family.sample(parameters, generator)) <= best + 1e-6).all()


@pytest.mark.parametrize("spec", SPECS)
def test_entropy_and_kl_are_the_means_of_what_they_say(spec: ActionSpec):
    family = distribution_for(spec)
    p, q = draw(family.num_parameters), 0.5 * draw(family.num_parameters, name="q")
    many = p.expand(200_000, -1)
    actions = family.sample(many, make_generator(0, "many"))
    log_p = family.log_prob(many, actions)
    assert family.entropy(p).item() == pytest.approx(-log_p.mean().item(), abs=0.02)
    kl = (log_p - family.log_prob(q.expand(200_000, -1), actions)).mean().item()
    assert family.kl(p, q).item() == pytest.approx(kl, abs=0.03)
    assert family.kl(p, p).item() == pytest.approx(0.0, abs=1e-6)


def test_categorical_against_torch():
    family, logits, others = Categorical(4), draw(6, 4), draw(6, 4, name="others")
    expected = reference.Categorical(logits=logits)
    actions = torch.tensor([0, 1, 2, 3, 0, 1])
    torch.testing.assert_close(family.log_prob(logits, actions), expected.log_prob(actions))
    torch.testing.assert_close(family.entropy(logits), expected.entropy())
    kl = reference.kl_divergence(expected, reference.Categorical(logits=others))
    torch.testing.assert_close(family.kl(logits, others), kl)


def test_gaussian_against_torch():
    family, parameters, others = DiagonalGaussian(3), draw(6, 6), draw(6, 6, name="others")
    expected = normal(parameters)
    actions = draw(6, 3, name="actions")
    torch.testing.assert_close(family.log_prob(parameters, actions), expected.log_prob(actions))
    torch.testing.assert_close(family.entropy(parameters), expected.entropy())
    torch.testing.assert_close(family.kl(parameters, others), reference.kl_divergence(expected, normal(others)))


def test_a_categorical_by_hand():
    family, logits = Categorical(2), torch.tensor([[math.log(1.0), math.log(3.0)]])
    assert family.log_prob(logits, torch.tensor([1])).exp().item() == pytest.approx(0.75)
    assert family.entropy(logits).item() == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))


def test_samples_are_as_frequent_as_their_probabilities():
    logits = torch.tensor([0.0, math.log(2.0), math.log(5.0)])
    actions = Categorical(3).sample(logits.expand(100_000, 3), make_generator(0))
    shares = torch.bincount(actions, minlength=3) / 100_000
    torch.testing.assert_close(shares, torch.tensor([1.0, 2.0, 5.0]) / 8.0, atol=0.005, rtol=0)


def test_an_impossible_action_is_never_drawn():
    logits = torch.tensor([0.0, -1e9, 0.0])
    assert (Categorical(3).sample(logits.expand(10_000, 3), make_generator(0)) != 1).all()


def test_choices_of_a_multi_categorical_are_independent():
    family, logits = MultiCategorical((2, 2)), torch.zeros(40_000, 4)
    first, second = family.sample(logits, make_generator(0)).unbind(-1)
    assert (first == second).float().mean().item() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("spec", SPECS)
def test_temperatures_make_more_daring_or_surer_and_one_changes_nothing(spec: ActionSpec):
    family = distribution_for(spec)
    parameters = draw(20, family.num_parameters)
    assert torch.allclose(family.tempered(parameters, 1.0), parameters)
    for temperature in (0.5, 2.0):
        tempered = family.tempered(parameters, temperature)
        assert torch.equal(family.mode(tempered), family.mode(parameters))
        assert (family.entropy(tempered) > family.entropy(parameters)).all() == (temperature > 1.0)


def test_what_a_temperature_does_to_probabilities_and_to_spreads():
    logits = Categorical(3).tempered(torch.tensor([0.0, 1.0, 3.0]), 2.0)
    logits = logits - logits[0]
    assert torch.allclose(logits.softmax(-1), torch.tensor([0.0, 0.5, 1.5]).softmax(-1))
    mean, log_std = DiagonalGaussian(2).tempered(torch.tensor([0.3, -2.0, 0.0, 1.0]), 2.0).chunk(2)
    assert torch.equal(mean, torch.tensor([0.3, -2.0]))
    assert torch.allclose(log_std.exp(), torch.tensor([2.0, 2.0 * math.e]))


@pytest.mark.parametrize("temperature", [1e-3, 1e-37, 1e-39, 1e-300])
@pytest.mark.parametrize("family", [Categorical(2), MultiCategorical((2, 2))])
def test_near_0_it_is_the_likeliest(family, temperature):
    logits = torch.tensor([[0.4, 0.6] * (family.num_parameters // 2)]).log().expand(100, -1)
    tempered = family.tempered(logits, temperature)
    assert torch.equal(family.sample(tempered, torch.Generator().manual_seed(0)), family.mode(logits))
