import pytest

from respawn.errors import ConfigError
from respawn.observers.config import ObserversConfig


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize(
    "name",
    [
        "console_seconds", "tensorboard_seconds", "heartbeat_seconds", "stall_seconds", "slow_step_seconds",
        "slow_step_window_seconds", "resource_seconds", "latest_seconds",
    ],
)  # fmt: skip
def test_spans_that_are_no_spans_are_refused(name, seconds):
    with pytest.raises(ConfigError, match=f"observers.{name.replace('_', '-')}"):
        ObserversConfig(**{name: seconds})


def test_zero_is_allowed():
    assert ObserversConfig(console_seconds=0, tensorboard_seconds=0).console


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slow_step_window_seconds", 0), ("slow_step_count", 0), ("resource_window", 0), ("retain_archives", -1),
        ("rotate_mib", -1), ("rotate_mib", float("nan")), ("hint_cooldown_updates", -1),
    ],
)  # fmt: skip
def test_numbers_that_count_nothing_are_refused(name, value):
    with pytest.raises(ConfigError, match=f"observers.{name.replace('_', '-')}"):
        ObserversConfig(**{name: value})


def test_a_file_may_become_so_many_bytes():
    assert ObserversConfig(rotate_mib=1.5).rotate_bytes == 3 * 2**19 and ObserversConfig(rotate_mib=0).rotate_bytes == 0
