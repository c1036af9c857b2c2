"""What both learners train: forward passes that agree with acting, compiled or not, and weights by name."""

import pytest
import torch
from practice import CORES, LEARNERS, assert_alike, make_model, practise, random_rollout

from respawn.collection.actor import Actor
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.errors import CheckpointError
from respawn.learners.config import OptimizerConfig
from respawn.learners.optimizer import Optimizer
from respawn.learners.trainee import ModelWeights, Trainee, episode_starts
from respawn.maths.seeding import make_generator
from respawn.models.config import ModelConfig
from respawn.testing.fakes import REWARD_SCALE, FakeWorld

both = pytest.mark.parametrize("name", LEARNERS)


def noise_of(model):
    return {name: buffer for name, buffer in model.named_buffers() if "noise" in name}


@pytest.mark.parametrize("core", [*CORES, "noisy", "noisy gru"])
def test_acting_and_learning_agree(core):
    """Over several rollouts with ends inside, new weights for each, and the past carried from one to the next."""
    config = CORES.get(core.removeprefix("noisy ").replace("noisy", "none"))
    config = ModelConfig(**{**config.__dict__, "noisy": core.startswith("noisy")})
    world = FakeWorld(4)
    world.reset([1, 2, 3, 4])
    acting, learning = (make_model(config, spec=world.spec) for _ in range(2))
    collector = SyncCollector(
        world, Actor(acting, 4, make_generator(0, "actor")), horizon_steps=20, device=torch.device("cpu")
    )
    trainee = Trainee(learning, Optimizer(learning, OptimizerConfig()), make_generator(0, "learner"))
    g = make_generator(0, "drift")
    for update in range(3):
        with torch.no_grad():
            for parameter in learning.parameters():
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=g))
        weights = trainee.weights()
        collector.start(CollectOrder(weights, Knobs(update, {REWARD_SCALE.name: 1.0})))
        rollout = collector.finish()
        assert (rollout.terminated.any() and rollout.truncated.any()) or update == 0
        for name, noise in noise_of(learning).items():
            noise.copy_(noise_of(acting)[name])
        unrolled = trainee.unroll_rollout(rollout)
        log_probs = learning.distribution.log_prob(unrolled.parameters[:-1], rollout.actions)
        ratios = (log_probs - rollout.behaviour_log_probs).exp()
        torch.testing.assert_close(ratios, torch.ones_like(ratios), atol=1e-5, rtol=0.0)
        assert unrolled.parameters.std() > 0.02  # a policy that says nothing would agree with anything


def test_noise_makes_the_actor_another_policy():
    """The agreement above is not trivial: without the actor's noise the learner finds other probabilities."""
    config = ModelConfig(hidden_sizes=(8,), noisy=True)
    noisy, plain = make_model(config), make_model(config)
    noisy.sample_noise(make_generator(0))
    observation = torch.randn(5, 3, generator=make_generator(1))
    assert not torch.allclose(noisy.act(observation, {}, None).values, plain.act(observation, {}, None).values)


def test_episodes_start_after_ends_and_never_at_row_0():
    rollout = random_rollout(make_model())
    starts = episode_starts(rollout)
    assert starts.shape == (8, 5)
    assert not starts[0].any()
    assert torch.equal(starts[1:], rollout.terminated | rollout.truncated)


def fails_always(function):
    def compiled(*inputs):
        raise RuntimeError("no such compiler\nand a long story")

    return compiled


def fails_to_begin(function):
    raise OSError("g++ is not installed")


class FailsLater:
    """Compiles the pass without gradient, and cannot compile the one with."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *inputs):
        self.calls += 1
        if self.calls > 1:
            raise RuntimeError("the second graph was too much")
        return self.function(*inputs)


@both
@pytest.mark.parametrize(
    ("broken", "cause"),
    [(fails_always, "no such compiler"), (fails_to_begin, "g++"), (FailsLater, "the second graph")],
)
def test_a_failing_compiler_costs_speed_only(name, broken, cause, monkeypatch):
    monkeypatch.setattr(torch, "compile", broken)
    plain, hopeful = practise(LEARNERS[name]), practise(LEARNERS[name], compile=True)
    rollouts = [random_rollout(plain.model, seed=seed) for seed in range(3)]
    for rollout in rollouts:
        assert plain.learn(rollout) == hopeful.learn(rollout)
    assert_alike(plain.tensors(), hopeful.tensors(), atol=0.0, rtol=0.0)
    assert not [event for event in plain.events if event.kind != "replay_sampler"]
    (event,) = [event for event in hopeful.events if event.kind != "replay_sampler"]
    assert event.kind == "compile_fallback"
    assert event.level == "warning"
    assert event.message.startswith("torch.compile failed, so the model runs uncompiled")
    assert cause in event.message
    assert "\n" not in event.message


@both
def test_the_compiled_pass_is_used(name, monkeypatch):
    made = []

    def compile_(function):
        def compiled(*inputs):
            made.append(len(inputs))
            return function(*inputs)

        return compiled

    monkeypatch.setattr(torch, "compile", compile_)
    plain, compiled = practise(LEARNERS[name]), practise(LEARNERS[name], compile=True)
    rollout = random_rollout(plain.model)
    assert plain.learn(rollout) == compiled.learn(rollout)
    assert len(made) == (17 if name == "ppo" else 1)
    assert compiled.events == []


def test_a_model_that_is_at_fault_itself_is_not_excused(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function: lambda *inputs: function(*inputs))
    practice = practise(LEARNERS["vtrace"], compile=True)
    rollout = random_rollout(practice.model)
    practice.model.unroll = lambda *inputs: (_ for _ in ()).throw(RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        practice.learn(rollout)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "core"), [("ppo", "none"), ("vtrace", "gru")])
def test_a_real_compiler_changes_rounding_only(name, core):
    plain, compiled = practise(LEARNERS[name], core), practise(LEARNERS[name], core, compile=True)
    for seed in range(3):
        rollout = random_rollout(plain.model, seed=seed)
        assert_alike(plain.learn(rollout), compiled.learn(rollout), atol=1e-4, rtol=1e-2)
    assert compiled.events == []
    assert_alike(plain.tensors(), compiled.tensors(), atol=1e-4)
    loaded = practise(LEARNERS[name], core, seed=5)
    ModelWeights(loaded.model).restore(compiled.tensors())
    ModelWeights(compiled.model).restore(loaded.tensors())
    assert set(loaded.tensors()) == set(plain.tensors())


@both
def test_weights_have_the_same_names_compiled_or_not(name, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function: lambda *inputs: function(*inputs))
    plain, compiled = practise(LEARNERS[name], seed=1), practise(LEARNERS[name], seed=2, compile=True)
    rollout = random_rollout(plain.model)
    plain.learn(rollout), compiled.learn(rollout)
    learned, saved = compiled.learner.state(), compiled.tensors()
    ModelWeights(plain.model).restore(saved)
    plain.learner.restore(learned)
    fresh = practise(LEARNERS[name], seed=3, compile=True)
    ModelWeights(fresh.model).restore(saved)
    fresh.learner.restore(learned)
    assert plain.learn(rollout) == fresh.learn(rollout) == compiled.learn(rollout)


def test_weights_told_are_copies():
    practice = practise(LEARNERS["vtrace"])
    told = practice.learner.weights()
    before = {name: tensor.clone() for name, tensor in told.tensors.items()}
    practice.learn(random_rollout(practice.model))
    assert isinstance(told, Weights)
    assert_alike(dict(told.tensors), before, atol=0.0, rtol=0.0)


def test_weights_of_another_model_are_refused():
    with pytest.raises(CheckpointError, match="another model"):
        ModelWeights(make_model("none")).restore(ModelWeights(make_model("gru")).state())
    narrow = make_model(ModelConfig(hidden_sizes=(4,)))
    with pytest.raises(CheckpointError, match="differ in name or shape"):
        ModelWeights(make_model("none")).restore(ModelWeights(narrow).state())
