from dataclasses import dataclass

import pytest

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError


@dataclass
class Settings:
    num_things: float | None


@pytest.mark.parametrize("value", [1, 1.0, 10**400, None])
def test_at_least(value):
    check_at_least("room.", Settings(value), {"num_things": 1})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (0, "room.num-things must be at least 1, not 0"),
        (-(10**30), f"room.num-things must be at least 1, not {-(10**30)}"),
        (float("inf"), "room.num-things must be at least 1 and finite, not inf"),
        (float("nan"), "room.num-things must be at least 1 and finite, not nan"),
    ],
)
def test_less_is_refused(value, sentence):
    with pytest.raises(ConfigError) as caught:
        check_at_least("room.", Settings(value), {"num_things": 1})
    assert str(caught.value) == sentence


def test_above():
    for value in (1e-300, 1, None):
        check_above("--", Settings(value), {"num_things": 0})
    with pytest.raises(ConfigError, match=r"^--num-things must be above 0, not 0\.0$"):
        check_above("--", Settings(0.0), {"num_things": 0})
    for value in (float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="must be above 0 and finite"):
            check_above("--", Settings(value), {"num_things": 0})


def test_between():
    for value in (0, 1_000_000, None):
        check_between("--", Settings(value), {"num_things": (0, 1_000_000)})
    for value in (-1, 1_000_001, 10**400):
        with pytest.raises(ConfigError, match=r"^--num-things must be from 0 to 1,000,000, not -?\d+$"):
            check_between("--", Settings(value), {"num_things": (0, 1_000_000)})
    for value in (float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="must be from 0 to 1 and finite"):
            check_between("--", Settings(value), {"num_things": (0, 1)})
