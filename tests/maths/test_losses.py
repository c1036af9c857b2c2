import math

import pytest
import torch
from torch import Tensor

from respawn.maths.losses import (
    clipped_surrogate_loss,
    clipped_value_loss,
    entropy_loss,
    normalised,
    policy_gradient_loss,
    valid_sum,
    value_loss,
)

ALL = torch.tensor([True, True])


def test_policy_gradient_by_hand():
    log_probs = torch.tensor([-1.0, -2.0], requires_grad=True)
    loss = policy_gradient_loss(log_probs, torch.tensor([3.0, -0.5]), ALL, 2.0)
    assert loss.item() == pytest.approx((1.0 * 3.0 + 2.0 * -0.5) / 2)
    loss.backward()
    assert log_probs.grad is not None
    assert log_probs.grad.tolist() == [-1.5, 0.25]


@pytest.mark.parametrize(
    ("ratio", "advantage", "gain", "moves"),
    [
        (1.1, 2.0, 2.2, True),
        (1.5, 2.0, 2.4, False),  # already likelier by more than the clip: no reason to go on
        (0.5, 2.0, 1.0, True),
        (0.5, -2.0, -1.6, False),
        (1.5, -2.0, -3.0, True),  # pessimism: a bad action that became likelier is not clipped
    ],
)
def test_clipped_surrogate_by_hand(ratio: float, advantage: float, gain: float, moves: bool):
    log_probs = torch.tensor([math.log(ratio) - 1.0], requires_grad=True)
    valid = torch.tensor([True])
    loss = clipped_surrogate_loss(log_probs, torch.tensor([-1.0]), torch.tensor([advantage]), valid, 1.0, clip=0.2)
    loss.backward()
    assert loss.item() == pytest.approx(-gain)
    assert log_probs.grad is not None
    assert (log_probs.grad.abs().item() > 0) == moves


def test_value_loss_by_hand():
    assert value_loss(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.5]), ALL, 2.0).item() == pytest.approx(
        (0.5 * 4.0 + 0.5 * 0.25) / 2
    )


def test_clipped_value_loss_by_hand():
    values, old, targets = torch.tensor([2.0, 0.1]), torch.tensor([0.0, 0.0]), torch.tensor([3.0, 1.0])
    # The first moved by 2, clipped to 0.5: (0.5 - 3)^2 is worse than (2 - 3)^2. The second is inside the clip.
    expected = (0.5 * 2.5**2 + 0.5 * 0.9**2) / 2
    assert clipped_value_loss(values, old, targets, ALL, 2.0, clip=0.5).item() == pytest.approx(expected)


def test_entropy_loss_by_hand():
    assert entropy_loss(torch.tensor([0.5, 1.5]), torch.tensor([True, False]), 1.0).item() == -0.5


def test_invalid_rows_do_not_count_even_when_they_are_not_numbers():
    numbers = torch.tensor([1.0, math.nan, 2.0], requires_grad=True)
    total = valid_sum(numbers, torch.tensor([True, False, True]))
    total.backward()
    assert total.item() == 3.0
    assert numbers.grad is not None
    assert numbers.grad.tolist() == [1.0, 0.0, 1.0]


def test_the_gradients_of_parts_add_up_to_that_of_the_whole():
    g = torch.Generator().manual_seed(0)
    features, advantages, targets = torch.randn(10, 3, generator=g), torch.randn(10, generator=g), torch.randn(10)
    valid = torch.rand(10, generator=g) > 0.4
    weight = torch.randn(3, generator=g, requires_grad=True)

    def loss(rows: slice, normaliser: Tensor) -> Tensor:
        out = features[rows] @ weight
        log_probs, old = -out.square(), torch.full_like(out, -0.5)
        return (
            policy_gradient_loss(log_probs, advantages[rows], valid[rows], normaliser)
            + clipped_surrogate_loss(log_probs, old, advantages[rows], valid[rows], normaliser, clip=0.2)
            + value_loss(out, targets[rows], valid[rows], normaliser)
            + clipped_value_loss(out, old, targets[rows], valid[rows], normaliser, clip=0.3)
            + entropy_loss(out.abs(), valid[rows], normaliser)
        )

    count = valid.sum()
    (whole,) = torch.autograd.grad(loss(slice(0, 10), count), weight)
    for rows in (slice(0, 3), slice(3, 8), slice(8, 10)):
        loss(rows, count).backward()
    torch.testing.assert_close(weight.grad, whole)


def test_normalised_advantages_have_mean_zero_and_deviation_one_over_valid_rows():
    advantages = torch.tensor([[1.0, 3.0], [100.0, 5.0]])
    valid = torch.tensor([[True, True], [False, True]])
    result = normalised(advantages, valid)
    assert result[1, 0].item() == 0.0
    torch.testing.assert_close(result[valid], torch.tensor([-1.0, 0.0, 1.0]) * math.sqrt(1.5))


def test_normalising_nothing_gives_nothing():
    assert normalised(torch.ones(2, 2), torch.zeros(2, 2, dtype=torch.bool)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
