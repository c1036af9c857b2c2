import pytest
import torch
from practice import make_model

from respawn.errors import CheckpointError, ConfigError
from respawn.learners.config import OptimizerConfig
from respawn.learners.optimizer import Optimizer
from respawn.testing.suites.saveable import check_saveable, freeze


def parameters(model):
    return dict(model.named_parameters())


def fill_gradients(model, seed):
    g = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=g)


@pytest.mark.parametrize("core", ["none", "gru", "transformer"])
def test_decay_pulls_matrices_only(core):
    model = make_model(core)
    optimizer = Optimizer(model, OptimizerConfig(weight_decay=0.5))
    before = {name: p.detach().clone() for name, p in parameters(model).items()}
    with torch.no_grad():
        for p in model.parameters():
            p.add_(1.0)
    raised = {name: value + 1.0 for name, value in before.items()}
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step(0.1)
    decayed = {name for name, p in parameters(model).items() if not torch.equal(p, raised[name])}
    for name in decayed:
        torch.testing.assert_close(parameters(model)[name].detach(), raised[name] * (1 - 0.1 * 0.5))
    untouched = set(before) - decayed
    assert untouched == {name for name in before if "bias" in name or "norm" in name}
    assert decayed


def test_a_long_gradient_is_shortened_and_a_short_one_is_not():
    model = make_model()
    for limit, shortened in ((1.0, True), (1000.0, False), (0.0, False)):
        fill_gradients(model, 0)
        length = torch.sqrt(sum(p.grad.square().sum() for p in model.parameters()))
        norm = Optimizer(model, OptimizerConfig(gradient_norm=limit)).step(0.0)
        torch.testing.assert_close(norm, length.detach())
        after = torch.sqrt(sum(p.grad.square().sum() for p in model.parameters()))
        torch.testing.assert_close(after, torch.tensor(1.0) if shortened else length, rtol=1e-4, atol=0.0)


def test_a_step_is_adams():
    """The first step of Adam is the learning rate times the sign of the gradient, whatever its size."""
    model = make_model()
    before = {name: p.detach().clone() for name, p in parameters(model).items()}
    optimizer = Optimizer(model, OptimizerConfig(epsilon=1e-12, gradient_norm=0.0, learning_rate=0.5))
    fill_gradients(model, 0)
    optimizer.step(0.01)
    for name, p in parameters(model).items():
        torch.testing.assert_close(p.detach(), before[name] - 0.01 * p.grad.sign())


class Trained:
    """An optimizer with its model, moved on by made-up gradients."""

    def __init__(self):
        self.model = make_model("gru")
        self.optimizer = Optimizer(self.model, OptimizerConfig(weight_decay=0.1))

    def advance(self):
        for seed in range(3):
            fill_gradients(self.model, seed)
            self.optimizer.step(0.01)

    def state(self):
        weights = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        return {"optimizer": self.optimizer.state(), "weights": weights}

    def restore(self, state):
        self.optimizer.restore(state["optimizer"])
        self.model.load_state_dict(state["weights"])


def test_its_memory_can_be_saved_exactly():
    check_saveable(Trained, Trained.advance, lambda trained: freeze(trained.state()))


def test_its_memory_is_kept_by_name():
    trained = Trained()
    assert trained.optimizer.state() == {}
    trained.advance()
    state = trained.optimizer.state()
    assert set(state) == set(parameters(trained.model))
    assert all(set(moments) == {"step", "exp_avg", "exp_avg_sq"} for moments in state.values())
    assert all(float(moments["step"]) == 3.0 for moments in state.values())


def test_memory_of_another_model_is_refused():
    trained = Trained()
    trained.advance()
    with pytest.raises(CheckpointError, match=r"core\.layer"):
        Optimizer(make_model("none"), OptimizerConfig()).restore(trained.optimizer.state())


@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.0},
        {"weight_decay": -1.0},
        {"gradient_norm": -0.5},
        {"beta1": 1.0},
        {"beta2": -0.1},
        {"epsilon": 0.0},
        {"accumulation": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=f"learner.optimizer.{next(iter(settings)).replace('_', '-')}"):
        OptimizerConfig(**settings)


ON_GPU = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")],
)


@pytest.mark.parametrize("device", ["cpu", ON_GPU])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_never_happened(device, bad):
    """Weights, moments and steps are, to the last bit, those of an optimizer that was never given it."""
    spared, hit = make_model().to(device), make_model().to(device)
    optimizers = {model: Optimizer(model, OptimizerConfig()) for model in (spared, hit)}
    for step in range(4):
        for model, optimizer in optimizers.items():
            g = torch.Generator().manual_seed(step)
            for parameter in model.parameters():
                parameter.grad = torch.randn(parameter.shape, generator=g).to(device)
            if step == 2 and model is hit:
                next(model.parameters()).grad.view(-1)[0] = bad
                assert not torch.isfinite(optimizer.step(0.1))
            elif step != 2:
                assert torch.isfinite(optimizer.step(0.1))
    assert freeze(dict(spared.state_dict())) == freeze(dict(hit.state_dict()))
    assert freeze(optimizers[spared].state()) == freeze(optimizers[hit].state())
