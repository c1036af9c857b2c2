import pytest
import torch
from torch import Tensor

from respawn.maths.seeding import make_generator
from respawn.models.cores import NoCore, RecurrentCore
from respawn.models.transformer import TransformerCore

NO_CUTS = torch.empty(0, 2, dtype=torch.int64)


def draw(*shape: int, name: str = "rows") -> Tensor:
    return torch.randn(*shape, generator=make_generator(0, name))


def no_starts(num_rows: int, num_lanes: int) -> Tensor:
    return torch.zeros(num_rows, num_lanes, dtype=torch.bool)


def transformer(window: int, *, layers: int = 1) -> TransformerCore:
    torch.manual_seed(0)
    core = TransformerCore(4, 8, layers, 2, window)
    with torch.no_grad():
        for block in core.blocks:
            block.distance_bias.copy_(draw(*block.distance_bias.shape, name="bias"))
    return core


def test_no_core_passes_through():
    core, rows, cut_rows = NoCore(4), draw(3, 2, 4), draw(1, 4, name="cut")
    output = core(rows, core.initial_memory(2, torch.device("cpu")), no_starts(3, 2), torch.tensor([[0, 1]]), cut_rows)
    assert torch.equal(output.features, rows)
    assert torch.equal(output.cut_features, cut_rows)
    assert output.memory == {}


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_a_recurrent_core_is_what_torch_calls_by_that_name(kind: str):
    core = RecurrentCore("gru" if kind == "gru" else "lstm", 4, 6)
    rows = draw(5, 2, 4)
    starts = no_starts(5, 2)
    starts[3, 1] = True
    output = core(rows, core.initial_memory(2, torch.device("cpu")), starts, NO_CUTS, rows[0, :0])
    uninterrupted, _ = core.layer(rows[:, :1])
    torch.testing.assert_close(output.features[:, :1], uninterrupted)
    before, _ = core.layer(rows[:3, 1:])
    after, _ = core.layer(rows[3:, 1:])
    torch.testing.assert_close(output.features[:, 1:], torch.cat([before, after]))


def test_memory_is_named_and_zero():
    device = torch.device("cpu")
    shapes = {
        name: tuple(part.shape)
        for core in (RecurrentCore("lstm", 4, 6), transformer(5, layers=3))
        for name, part in core.initial_memory(2, device).items()
    }
    assert shapes == {
        "hidden": (2, 6),
        "cell": (2, 6),
        "keys": (2, 3, 5, 8),
        "values": (2, 3, 5, 8),
        "filled": (2, 5),
    }
    assert not any(part.any() for part in transformer(5).initial_memory(2, device).values())


def test_a_transformer_block_sees_its_window_and_no_farther():
    core, window = transformer(3), 3
    rows = draw(8, 1, 4)
    memory = core.initial_memory(1, torch.device("cpu"))
    original = core(rows, memory, no_starts(8, 1), NO_CUTS, rows[0, :0]).features
    for changed_row in range(8):
        changed = rows.clone()
        changed[changed_row] += 1.0
        features = core(changed, memory, no_starts(8, 1), NO_CUTS, rows[0, :0]).features
        moved = ((features - original).abs().sum(-1) > 1e-6).flatten().tolist()
        assert moved == [changed_row <= t <= changed_row + window for t in range(8)]


def plain_attention(core: TransformerCore, episode: Tensor) -> Tensor:
    """The last row [H] of an episode [S, F], one layer, one head and one earlier row at a time."""
    (block,) = core.blocks
    inputs = core.input(episode)
    projected = block.queries_keys_values(block.attention_norm(inputs))
    window = block.distance_bias.shape[1] - 1
    now = len(episode) - 1
    found = []
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        seen = range(max(0, now - window), now + 1)
        query = projected[now, :8][part]
        scores = torch.stack(
            [query @ projected[j, 8:16][part] / 2.0 + block.distance_bias[head, now - j] for j in seen]
        )
        weights = scores.softmax(0)
        found.append(sum(weight * projected[j, 16:][part] for weight, j in zip(weights, seen, strict=True)))
    row = inputs[now] + block.mix(torch.cat(found))
    row = row + block.narrow(torch.nn.functional.gelu(block.widen(block.mlp_norm(row))))
    return core.output_norm(row)


def test_a_transformer_core_equals_attention_written_out():
    core, rows, cut_row = transformer(3), draw(9, 2, 4), draw(1, 4, name="cut")
    starts = no_starts(9, 2)
    starts[4, 1] = True
    memory = core.initial_memory(2, torch.device("cpu"))
    output = core(rows, memory, starts, torch.tensor([[3, 1]]), cut_row)
    for t in range(9):
        torch.testing.assert_close(output.features[t, 0], plain_attention(core, rows[: t + 1, 0]), atol=1e-5, rtol=1e-5)
        own = rows[: t + 1, 1] if t < 4 else rows[4 : t + 1, 1]
        torch.testing.assert_close(output.features[t, 1], plain_attention(core, own), atol=1e-5, rtol=1e-5)
    expected = plain_attention(core, torch.cat([rows[:4, 1], cut_row]))
    torch.testing.assert_close(output.cut_features[0], expected, atol=1e-5, rtol=1e-5)


def test_a_transformer_never_answers_with_nan():
    core = transformer(3, layers=2)
    starts = torch.ones(4, 2, dtype=torch.bool)
    cuts = torch.tensor([[t, lane] for t in range(4) for lane in range(2)])
    rows = draw(4, 2, 4).requires_grad_()
    output = core(rows, core.initial_memory(2, torch.device("cpu")), starts, cuts, draw(8, 4, name="cut"))
    (output.features.sum() + output.cut_features.square().sum()).backward()
    assert output.features.isfinite().all()
    assert output.cut_features.isfinite().all()
    assert rows.grad is not None
    assert rows.grad.isfinite().all()
