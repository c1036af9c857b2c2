import pytest

from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError


@pytest.mark.parametrize(
    "settings",
    [
        {"actors": -1},
        {"actors": 2, "most_lag": 0},
        {"actors": 2, "order": "any"},
        {"actors": 2, "actor_threads": 0},
        {"actors": 2, "actor_start_seconds": 0.0},
        {"actors": 2, "rollout_seconds": -1.0},
        {"actors": 2, "max_replacements": -1},
    ],
)
def test_settings_of_actors_that_make_no_sense_are_refused(settings):
    name = list(settings)[-1].replace("_", "-")
    with pytest.raises(ConfigError, match=f"collection.{name}"):
        CollectionConfig(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"most_lag": 2},
        {"order": "free"},
        {"actor_threads": 2},
        {"actor_start_seconds": 1.0},
        {"rollout_seconds": 1.0},
        {"max_replacements": 0},
    ],
)
def test_without_actors_their_settings_are_refused(settings):
    (name,) = settings
    with pytest.raises(ConfigError, match=f"collection.{name.replace('_', '-')} has no effect without actors"):
        CollectionConfig(**settings)


@pytest.mark.parametrize("settings", [{"lag": 1}, {"threaded": False}])
def test_with_actors_this_process_does_not_collect(settings):
    with pytest.raises(ConfigError, match=r"collection\.actors 2"):
        CollectionConfig(actors=2, **settings)


def test_fewer_in_flight_than_actors_are_refused():
    with pytest.raises(ConfigError, match=r"most-lag must be at least collection.actors \(4\), not 3"):
        CollectionConfig(actors=4, most_lag=3)


@pytest.mark.parametrize(
    ("settings", "lag", "in_flight"),
    [
        ({}, 0, None),
        ({"lag": 1}, 1, None),
        ({"actors": 3}, 3, 3),
        ({"actors": 3, "most_lag": 5}, 5, 5),
        ({"actors": 3, "order": "free"}, 6, 3),
        ({"actors": 3, "order": "free", "most_lag": 4}, 4, 3),
    ],
)
def test_how_old_weights_may_be(settings, lag, in_flight):
    config = CollectionConfig(**settings)
    assert config.greatest_lag == lag
    assert in_flight is None or config.rollouts_in_flight == in_flight


def test_an_alarm_waits_until_an_actor_that_hangs_was_replaced():
    assert CollectionConfig(lag=1).patience_seconds == 0.0
    assert CollectionConfig(actors=2, rollout_seconds=500.0).patience_seconds > 500.0
    assert CollectionConfig(actors=2, rollout_seconds=5.0, actor_start_seconds=400.0).patience_seconds > 400.0
