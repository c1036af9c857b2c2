"""Sizes of files, for people."""

import pytest

from respawn.runs.sizes import size


@pytest.mark.parametrize(
    ("num_bytes", "said"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (3 * 2**20, "3.0 MiB"),
        (2**40, "1.0 TiB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_says_most(num_bytes, said):
    assert size(num_bytes) == said
