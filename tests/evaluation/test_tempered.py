import pytest
import torch

from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.evaluation.tempered import TemperedPolicy, check_temperatures, tempered_policies
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig

SEEN = torch.ones(4000, 3)


def model_for(actions, **settings):
    spec = WorldSpec("test", ObservationSpec((3,)), actions, 4000)
    model = build_model(spec, ModelConfig(hidden_sizes=(8,), **settings), seed=1).eval()
    with torch.no_grad():
        model.policy_head.linear.bias += torch.arange(len(model.policy_head.linear.bias)) / 2  # prefer something
    return model


def drawn(policy, seed=1):
    return policy.act(SEEN, policy.initial_memory(4000), make_generator(seed)).actions


def test_temperature_one_is_the_policy_itself():
    model = model_for(DiscreteActions(4))
    assert torch.equal(drawn(TemperedPolicy(model, 1.0)), drawn(model))
    assert not torch.equal(drawn(TemperedPolicy(model, 2.0)), drawn(model))


def test_how_often_each_action_is_taken_follows_the_temperature():
    model = model_for(DiscreteActions(4))
    logits = model.inspect(SEEN[:1], {}, None)[1][0]
    for temperature in (0.3, 1.0, 5.0):
        shares = torch.bincount(drawn(TemperedPolicy(model, temperature)), minlength=4) / 4000
        assert torch.allclose(shares, (logits / temperature).softmax(-1), atol=0.03)


def test_numbers_are_spread_as_many_times_as_wide_about_the_same_means():
    model = model_for(ContinuousActions(2))
    means = model.inspect(SEEN[:1], {}, None)[1][0, :2]
    actions = drawn(TemperedPolicy(model, 0.25))
    assert torch.allclose(actions.mean(0), means, atol=0.02) and torch.allclose(
        actions.std(0), torch.tensor(0.25), atol=0.02
    )


def test_without_a_generator_the_likeliest_is_taken_at_any_temperature():
    model = model_for(DiscreteActions(4))
    greedy = TemperedPolicy(model, 9.0).act(SEEN, {}, None)
    assert torch.equal(greedy.actions, model.act(SEEN, {}, None).actions)
    assert not torch.equal(greedy.log_probs, model.act(SEEN, {}, None).log_probs), "said of the tempered policy"


def test_what_is_remembered_and_expected_is_the_policys_own():
    model = model_for(DiscreteActions(4), core="gru", core_size=4)
    policy = TemperedPolicy(model, 2.0)
    ours = policy.act(SEEN, policy.initial_memory(4000), make_generator(1))
    theirs = model.act(SEEN, model.initial_memory(4000), make_generator(2))
    assert torch.equal(ours.values, theirs.values)
    assert ours.memory.keys() == theirs.memory.keys() != set()
    assert all(torch.equal(ours.memory[name], theirs.memory[name]) for name in ours.memory)


def test_names():
    assert list(tempered_policies(model_for(DiscreteActions(2)), (0.5, 2.0))) == ["temperature 0.5", "temperature 2"]


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_temperature_is_refused(temperature):
    with pytest.raises(ConfigError, match=r"--temperatures must be above 0 and finite, not .*greedy"):
        check_temperatures((1.0, temperature))


def test_nothing_is_played_twice():
    with pytest.raises(ConfigError, match="--temperatures names 2 twice"):
        check_temperatures((2.0, 0.5, 2.0))
