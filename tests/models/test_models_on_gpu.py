"""What only a CUDA device can get wrong: places of tensors, and gradients that differ from run to run."""

import os

import pytest
import torch
from replays import CORES, make_model, make_spec, random_replay

from respawn.maths.bootstrap import next_values
from respawn.maths.seeding import generator_state, make_generator, restore_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.models.cuda_graphs import MOST_SHAPES

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
# Without it cuBLAS refuses to promise anything; it is read when CUDA is first used, so it must stand here.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
every_core = pytest.mark.parametrize("config", CORES.values(), ids=CORES.keys())


@every_core
def test_a_gpu_says_what_the_cpu_says(config: ModelConfig, monkeypatch: pytest.MonkeyPatch):
    # cuDNN rounds what it multiplies to 10 bits unless told not to, and a CPU does not.
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    on_cpu, on_gpu = make_model(config), make_model(config).to("cuda")
    replay = random_replay(9)
    assert len(replay.cuts) > 0
    expected = on_cpu.unroll(
        replay.observations, on_cpu.initial_memory(4), replay.starts, replay.cuts, replay.cut_observations
    )
    unrolled = on_gpu.unroll(
        replay.observations.cuda(),
        on_gpu.initial_memory(4),
        replay.starts.cuda(),
        replay.cuts,
        replay.cut_observations.cuda(),
    )
    for name in ("parameters", "values", "cut_values"):
        torch.testing.assert_close(getattr(unrolled, name).cpu(), getattr(expected, name), atol=1e-4, rtol=1e-4)
    decision = on_gpu.act(replay.observations[0].cuda(), on_gpu.initial_memory(4), make_generator(0, device="cuda"))
    assert decision.actions.device.type == "cuda"
    after = next_values(
        torch.cat([unrolled.values, unrolled.values[:1]]), replay.starts.cuda(), replay.cuts, unrolled.cut_values
    )
    assert after.device.type == "cuda"


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("core", ["none", "gru", "lstm", "transformer"])
def test_gradients_are_the_same_bit_for_bit_each_time(core: str, precision: str):
    spec = make_spec((4, 42, 42), pictures=True)
    config = ModelConfig(core=core, precision=precision)  # type: ignore[arg-type]
    model = build_model(spec, config, seed=0, device="cuda")
    replay = random_replay(20, 16)
    g = make_generator(0, device="cuda")
    pictures = torch.randint(0, 256, (20, 16, 4, 42, 42), dtype=torch.uint8, device="cuda", generator=g)
    cut_pictures = torch.randint(0, 256, (len(replay.cuts), 4, 42, 42), dtype=torch.uint8, device="cuda", generator=g)
    memory, starts = model.initial_memory(16), replay.starts.cuda()

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        unrolled = model.unroll(pictures, memory, starts, replay.cuts, cut_pictures)
        loss = unrolled.parameters.square().sum() + unrolled.values.square().sum() + unrolled.cut_values.sum()
        loss.backward()
        return [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]

    # As a run that promises exact resume sets it; algorithms without a repeatable form raise here.
    torch.use_deterministic_algorithms(True)
    try:
        first = gradients()
        for _ in range(3):
            assert all(torch.equal(a, b) for a, b in zip(first, gradients(), strict=True))
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_seed_makes_the_same_weights_on_every_device_and_touches_no_chance():
    before = torch.cuda.get_rng_state()
    on_gpu = build_model(make_spec(), ModelConfig(), seed=3, device="cuda").state_dict()
    on_cpu = build_model(make_spec(), ModelConfig(), seed=3).state_dict()
    assert all(torch.equal(on_gpu[name].cpu(), on_cpu[name]) for name in on_cpu)
    assert torch.equal(torch.cuda.get_rng_state(), before)


def test_a_gpu_generator_goes_on_from_its_state():
    generator, other = make_generator(0, device="cuda"), make_generator(1, device="cuda")
    state = generator_state(generator)
    expected = torch.rand(5, generator=generator, device="cuda")
    restore_generator(other, state)
    assert torch.equal(torch.rand(5, generator=other, device="cuda"), expected)


@pytest.mark.filterwarnings("error:The AccumulateGrad:UserWarning")
@pytest.mark.parametrize("core", ["none", "gru"])
def test_replayed_kernels_compute_what_named_ones_do(core: str):
    spec = make_spec((4, 42, 42), pictures=True)
    plain, graphed = (
        build_model(
            spec, ModelConfig(core=core, patch=2, cuda_graphs=graphs, precision="bfloat16"), seed=0, device="cuda"
        )  # type: ignore[arg-type]
        for graphs in (False, True)
    )
    g = make_generator(1, device="cuda")
    starts, no_cuts = torch.zeros(20, 16, dtype=torch.bool, device="cuda"), torch.zeros(0, 2, dtype=torch.int64)
    for _ in range(3):  # the first pass is recorded, the others are replayed
        pictures = torch.randint(0, 256, (20, 16, 4, 42, 42), dtype=torch.uint8, device="cuda", generator=g)
        seen = []
        for model in (plain, graphed):
            model.zero_grad()
            unrolled = model.unroll(pictures, model.initial_memory(16), starts, no_cuts, pictures[0, :0])
            (unrolled.values.square().mean() + unrolled.parameters.square().mean()).backward()
            acted = model.act(pictures[0], model.initial_memory(16), None)
            gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
            seen.append([unrolled.values.detach().clone(), acted.values.clone(), acted.actions.clone(), *gradients])
        assert all(torch.equal(one, other) for one, other in zip(*seen, strict=True))


def test_sizes_that_never_come_again_do_not_fill_the_memory():
    model = build_model(make_spec((4, 42, 42), pictures=True), ModelConfig(cuda_graphs=True), seed=0, device="cuda")
    pictures = torch.zeros(64, 4, 42, 42, dtype=torch.uint8, device="cuda")
    for lanes in range(1, 40):
        model.act(pictures[:lanes], model.initial_memory(lanes), None)
    recorded = model.trunk.encoder._graphed._without  # type: ignore[union-attr]
    assert len(recorded) <= MOST_SHAPES
