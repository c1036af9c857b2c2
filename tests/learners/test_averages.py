import torch

from respawn.learners.averages import Averages


def test_means_are_weighted():
    averages = Averages()
    averages.add({"a": 1.0, "b": torch.tensor(2.0)}, 0.25)
    averages.add({"a": torch.tensor(5.0)}, torch.tensor(0.75))
    assert averages.means() == {"a": 4.0, "b": 2.0}


def test_nothing_of_weight_is_zero():
    averages = Averages()
    averages.add({"a": 3.0}, 0.0)
    assert averages.means() == {"a": 0.0}


def test_gradients_are_not_kept():
    averages = Averages()
    number = torch.ones((), requires_grad=True) * 2.0
    averages.add({"a": number})
    assert not any(getattr(total, "requires_grad", False) for total in averages._sums.values())
    assert averages.means() == {"a": 2.0}
