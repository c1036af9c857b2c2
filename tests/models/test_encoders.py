import pytest
import torch

from respawn.maths.seeding import make_generator
from respawn.models.encoders import ImpalaEncoder, MLPEncoder


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
@pytest.mark.parametrize("leading", [(5,), (3, 5), (0,)])
def test_an_mlp_takes_any_shape(shape: tuple[int, ...], leading: tuple[int, ...]):
    encoder = MLPEncoder(shape, (7, 6), "relu")
    assert encoder(torch.ones(*leading, *shape)).shape == (*leading, 6)
    assert encoder.num_features == 6


def test_an_mlp_without_layers_passes_through():
    encoder = MLPEncoder((2, 2), (), "tanh")
    assert encoder.num_features == 4
    assert encoder(torch.ones(3, 2, 2)).tolist() == [[1.0] * 4] * 3


def test_an_mlp_scales_bytes():
    assert MLPEncoder((2,), (), "tanh")(torch.tensor([[0, 255]], dtype=torch.uint8)).tolist() == [[0.0, 1.0]]


def test_layers_of_an_mlp_are_orthogonal():
    linear = MLPEncoder((8,), (8,), "tanh").layers[0]
    torch.testing.assert_close(linear.weight @ linear.weight.T, 2.0 * torch.eye(8), atol=1e-5, rtol=0)


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (7, 4), (84, 84)])
@pytest.mark.parametrize("leading", [(2,), (3, 2), (0,)])
def test_impala_takes_pictures_of_any_size(size: tuple[int, int], leading: tuple[int, ...]):
    encoder = ImpalaEncoder((3, *size), (4, 8, 8), 10)
    pictures = torch.zeros(*leading, 3, *size, dtype=torch.uint8)
    assert encoder(pictures).shape == (*leading, 10)


@pytest.mark.parametrize("leading", [(2,), (3, 2), (0,)])
def test_impala_takes_pictures_in_patches(leading: tuple[int, ...]):
    encoder = ImpalaEncoder((3, 8, 12), (4, 8), 10, patch=2)
    assert encoder.stages[0].in_channels == 12
    pictures = torch.zeros(*leading, 3, 8, 12, dtype=torch.uint8)
    assert encoder(pictures).shape == (*leading, 10)


def test_impala_treats_each_picture_by_itself():
    encoder = ImpalaEncoder((1, 8, 8), (4, 4), 10)
    pictures = torch.randint(0, 256, (2, 3, 1, 8, 8), dtype=torch.uint8, generator=make_generator(0))
    together = encoder(pictures)
    torch.testing.assert_close(together[1, 2], encoder(pictures[1, 2].unsqueeze(0))[0], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(together[0, 0], together[0, 1])


def test_on_a_cpu_there_is_nothing_to_replay():
    torch.manual_seed(0)
    plain = ImpalaEncoder((4, 42, 42), (4, 8), 16, patch=2)
    graphed = ImpalaEncoder((4, 42, 42), (4, 8), 16, patch=2, cuda_graphs=True)
    graphed.load_state_dict(plain.state_dict())
    pictures = torch.randint(0, 256, (3, 2, 4, 42, 42), dtype=torch.uint8)
    assert torch.equal(plain(pictures), graphed(pictures))
    assert len(list(graphed.parameters())) == len(list(plain.parameters()))
