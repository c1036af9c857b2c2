import pytest

from respawn.errors import ConfigError
from respawn.observers.config import ObserversConfig


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["console_seconds", "tensorboard_seconds"])
def test_spans_that_are_no_spans_are_refused(name, seconds):
    with pytest.raises(ConfigError, match=f"observers.{name.replace('_', '-')}"):
        ObserversConfig(**{name: seconds})


def test_zero_is_allowed():
    assert ObserversConfig(console_seconds=0, tensorboard_seconds=0).console
