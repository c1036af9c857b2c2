"""Models here are tiny and tests run side by side: more than one thread for each only gets in the others' way."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Whatever the test before asked for: with another number of threads sums are rounded otherwise."""
    torch.set_num_threads(1)
