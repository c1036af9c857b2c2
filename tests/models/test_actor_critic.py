import copy
import math

import pytest
import torch
from replays import CORES, NO_CUTS, Replay, act_through, make_model, make_spec, random_replay
from torch.utils._python_dispatch import TorchDispatchMode

from respawn.contracts.policy import Policy
from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions, MultiDiscreteActions
from respawn.maths.seeding import make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.models.build import build_model
from respawn.models.config import ModelConfig

every_core = pytest.mark.parametrize("config", CORES.values(), ids=CORES.keys())


def assert_same(model: ActorCritic, replay: Replay, memory: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    acted = act_through(model, replay, memory)
    unrolled = model.unroll(replay.observations, memory, replay.starts, replay.cuts, replay.cut_observations)
    log_probs = model.distribution.log_prob(unrolled.parameters, acted.actions)
    close = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(log_probs, acted.log_probs, **close)
    torch.testing.assert_close(unrolled.values, acted.values, **close)
    torch.testing.assert_close(unrolled.cut_values, acted.cut_values, **close)
    return dict(acted.memory)


@every_core
@pytest.mark.parametrize("chance_of_start", [0.0, 0.15, 0.9])
@pytest.mark.parametrize("num_rows", [1, 3, 17])
def test_unrolling_equals_acting(config: ModelConfig, num_rows: int, chance_of_start: float):
    model = make_model(config)
    replay = random_replay(num_rows, chance_of_start=chance_of_start, seed=num_rows)
    assert_same(model, replay, dict(model.initial_memory(4)))


@every_core
@pytest.mark.parametrize("num_rows", [2, 7])
def test_memory_carried_over_chunks_equals_one_long_unroll(config: ModelConfig, num_rows: int):
    model = make_model(config)
    whole = random_replay(num_rows * 4, chance_of_start=0.08)
    memory = dict(model.initial_memory(4))
    everything = model.unroll(whole.observations, memory, whole.starts, whole.cuts, whole.cut_observations)
    values, cut_values = [], []
    for first in range(0, num_rows * 4, num_rows):
        rows = slice(first, first + num_rows)
        inside = (whole.cuts[:, 0] >= first) & (whole.cuts[:, 0] < first + num_rows)
        chunk = Replay(
            whole.observations[rows],
            whole.starts[rows],
            whole.cuts[inside] - torch.tensor([first, 0]),
            whole.cut_observations[inside],
        )
        unrolled = model.unroll(chunk.observations, memory, chunk.starts, chunk.cuts, chunk.cut_observations)
        assert_same(model, chunk, memory)
        memory = dict(unrolled.memory)
        values.append(unrolled.values)
        cut_values.append(unrolled.cut_values)
    torch.testing.assert_close(torch.cat(values), everything.values, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.cat(cut_values), everything.cut_values, atol=1e-5, rtol=1e-5)


@every_core
def test_cuts_leave_the_other_rows_alone(config: ModelConfig):
    model = make_model(config)
    replay = random_replay(9)
    memory = model.initial_memory(4)
    assert len(replay.cuts) > 0
    cut = model.unroll(replay.observations, memory, replay.starts, replay.cuts, replay.cut_observations)
    uncut = model.unroll(replay.observations, memory, replay.starts, NO_CUTS, replay.cut_observations[:0])
    torch.testing.assert_close(cut.values, uncut.values, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(cut.parameters, uncut.parameters, atol=1e-6, rtol=1e-6)
    assert uncut.cut_values.shape == (0,)


@every_core
def test_lanes_do_not_see_each_other(config: ModelConfig):
    model = make_model(config)
    replay = random_replay(9)
    memory = model.initial_memory(4)
    changed = replay.observations.clone()
    changed[:, 1] += 1.0
    values, others = (
        model.unroll(observations, memory, replay.starts, replay.cuts, replay.cut_observations).values
        for observations in (replay.observations, changed)
    )
    kept = [0, 2, 3]
    torch.testing.assert_close(values[:, kept], others[:, kept], atol=1e-6, rtol=1e-6)
    assert not torch.allclose(values[:, 1], others[:, 1])


@pytest.mark.parametrize("name", ["gru", "lstm", "transformer"])
def test_a_core_with_memory_remembers_within_an_episode_only(name: str):
    model = make_model(CORES[name])
    observations = random_replay(4, 1).observations
    changed = observations.clone()
    changed[0] += 1.0
    for begins_anew in (False, True):
        starts = torch.tensor([[True], [False], [begins_anew], [False]])
        values, others = (
            model.unroll(rows, model.initial_memory(1), starts, NO_CUTS, rows[:0, 0]).values
            for rows in (observations, changed)
        )
        assert torch.equal(values[3], others[3]) == begins_anew


@every_core
@pytest.mark.parametrize("noisy", [False, True])
def test_gradient_reaches_every_parameter(config: ModelConfig, noisy: bool):
    spec = make_spec(actions=ContinuousActions(2))
    model = make_model(ModelConfig(**{**vars(config), "noisy": noisy}), spec)
    model.sample_noise(make_generator(0))
    replay = random_replay(12)
    unrolled = model.unroll(
        replay.observations, model.initial_memory(4), replay.starts, replay.cuts, replay.cut_observations
    )
    ((unrolled.parameters + 1.0).square().sum() + unrolled.values.sum() + unrolled.cut_values.sum()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


@every_core
def test_gradient_reaches_the_past_through_a_cut(config: ModelConfig):
    model = make_model(config)
    observations = random_replay(3, 2).observations.requires_grad_()
    starts = torch.zeros(3, 2, dtype=torch.bool)
    cut_observations = torch.ones(1, 3, requires_grad=True)
    unrolled = model.unroll(observations, model.initial_memory(2), starts, torch.tensor([[1, 0]]), cut_observations)
    unrolled.cut_values.sum().backward()
    assert cut_observations.grad is not None
    assert cut_observations.grad.abs().sum() > 0
    if config.core == "none":
        return
    assert observations.grad is not None
    reached = observations.grad.abs().sum(-1) > 0
    assert reached.tolist() == [[True, False], [True, False], [False, False]]


@pytest.mark.parametrize("actions", [DiscreteActions(5), MultiDiscreteActions((3, 4)), ContinuousActions(2)])
def test_actions_of_every_kind(actions: ActionSpec):
    model = build_model(make_spec(actions=actions), ModelConfig(), seed=0)
    policy: Policy = model
    observation = torch.randn(6, 3, generator=make_generator(0))
    memory = policy.initial_memory(6)
    decision = policy.act(observation, memory, make_generator(1))
    again = policy.act(observation, memory, make_generator(1))
    likeliest = policy.act(observation, memory, None)
    assert torch.equal(decision.actions, again.actions)
    assert decision.actions.shape == ((6,) if isinstance(actions, DiscreteActions) else (6, 2))
    assert decision.log_probs.shape == decision.values.shape == (6,)
    assert not decision.values.requires_grad
    assert (decision.log_probs <= likeliest.log_probs).all()


def test_a_fresh_policy_is_nearly_indifferent():
    model = build_model(make_spec(actions=DiscreteActions(6)), ModelConfig(), seed=0)
    observations = torch.randn(1, 50, 3, generator=make_generator(0))
    starts = torch.zeros(1, 50, dtype=torch.bool)
    parameters = model.unroll(observations, {}, starts, NO_CUTS, observations[0, :0]).parameters
    assert model.distribution.entropy(parameters).min().item() > 0.999 * math.log(6)


@every_core
def test_bfloat16_computes_close_to_float32_and_answers_in_float32(config: ModelConfig):
    low = make_model(ModelConfig(**{**vars(config), "precision": "bfloat16"}))
    full = make_model(config)
    replay = random_replay(9)
    memory = low.initial_memory(4)
    acted = low.act(replay.observations[0], memory, make_generator(0))
    assert acted.values.dtype == acted.log_probs.dtype == torch.float32
    for name, part in acted.memory.items():
        assert part.dtype == memory[name].dtype
    rough, exact = (
        model.unroll(replay.observations, memory, replay.starts, replay.cuts, replay.cut_observations)
        for model in (low, full)
    )
    for name in ("parameters", "values", "cut_values"):
        assert getattr(rough, name).dtype == torch.float32
        torch.testing.assert_close(getattr(rough, name), getattr(exact, name), atol=0.1, rtol=0.1)
    assert not torch.equal(rough.values, exact.values)
    rough.values.sum().backward()
    assert all(p.grad is None or p.grad.dtype == torch.float32 for p in low.parameters())


@every_core
def test_weights_go_over_to_another_model(config: ModelConfig):
    first, second = make_model(config, seed=0), make_model(config, seed=1)
    observation = random_replay(1).observations[0]
    memory = first.initial_memory(4)
    assert not torch.equal(first.act(observation, memory, None).values, second.act(observation, memory, None).values)
    second.load_state_dict(first.state_dict())
    for field in ("actions", "log_probs", "values"):
        ours, theirs = (getattr(model.act(observation, memory, None), field) for model in (first, second))
        assert torch.equal(ours, theirs)


def test_noise_disturbs_until_it_is_cleared_and_is_not_saved():
    model = make_model(ModelConfig(noisy=True))
    observation = random_replay(1).observations[0]

    def values(which: ActorCritic) -> torch.Tensor:
        return which.act(observation, {}, None).values

    calm = values(model)
    model.sample_noise(make_generator(0))
    disturbed = values(model)
    assert not torch.allclose(calm, disturbed)
    assert torch.equal(disturbed, values(model)), "noise stays as drawn"
    assert torch.equal(disturbed, values(copy.deepcopy(model)))
    fresh = make_model(ModelConfig(noisy=True), seed=3)
    fresh.load_state_dict(model.state_dict())
    assert torch.equal(values(fresh), calm)
    model.sample_noise(make_generator(1))
    assert not torch.allclose(values(model), disturbed)
    model.clear_noise()
    assert torch.equal(values(model), calm)


def test_a_model_without_noisy_heads_takes_no_chance():
    model = make_model()
    generator = make_generator(0)
    before = generator.get_state()
    model.sample_noise(generator)
    assert torch.equal(generator.get_state(), before)


def test_pictures_unroll_as_they_act():
    spec = make_spec((2, 9, 7), pictures=True)
    model = make_model(ModelConfig(channels=(4, 4), feature_size=16, core="gru", core_size=8), spec)
    observations = torch.randint(0, 256, (3, 2, 2, 9, 7), generator=make_generator(0), dtype=torch.uint8)
    memory = model.initial_memory(2)
    starts = torch.zeros(3, 2, dtype=torch.bool)
    unrolled = model.unroll(observations, memory, starts, NO_CUTS, observations[0, :0])
    for t in range(3):
        decision = model.act(observations[t], memory, None)
        memory = decision.memory
        torch.testing.assert_close(decision.values, unrolled.values[t], atol=1e-5, rtol=1e-5)


class CountOperations(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


def test_acting_takes_few_operations():
    """On a small batch an operation costs its call, not its numbers; counting does not depend on a busy machine."""
    model = make_model()
    with CountOperations() as operations:
        model.act(torch.zeros(8, 3), {}, make_generator(1))
    assert operations.count <= 30


@every_core
def test_inspecting_says_by_which_distribution_it_was_decided(config: ModelConfig):
    model = make_model(config)
    replay = random_replay(3, chance_of_start=0.0)
    memory = model.initial_memory(4)
    for row in replay.observations:
        greedy, parameters = model.inspect(row, memory, None)
        assert torch.equal(greedy.actions, model.distribution.mode(parameters))
        assert torch.equal(greedy.log_probs, model.distribution.log_prob(parameters, greedy.actions))
        drawn, same = model.inspect(row, memory, make_generator(5))
        acted = model.act(row, memory, make_generator(5))
        assert torch.equal(parameters, same) and not parameters.requires_grad
        assert torch.equal(drawn.actions, acted.actions) and torch.equal(drawn.values, acted.values)
        memory = greedy.memory
