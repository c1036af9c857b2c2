from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.manifest import SCHEMA_VERSION, Manifest
from respawn.checkpoints.retention import best, to_delete
from respawn.errors import ConfigError

BEGAN = datetime(2026, 11, 16, tzinfo=UTC)


def manifest(updates, score=None, hours=0.0):
    return Manifest(
        schema_version=SCHEMA_VERSION,
        respawn_version="0",
        saved_at=(BEGAN + timedelta(hours=hours)).isoformat(),
        updates=updates,
        decisions=0,
        config_sha256="",
        world="",
        weights_sha256="",
        metrics={} if score is None else {"evaluation/return_mean": score},
        files={},
    )


def history(*scores, hours_apart=0.0):
    return {f"u{i:08d}": manifest(i, score, i * hours_apart) for i, score in enumerate(scores)}


def kept(manifests, **settings):
    doomed = to_delete(manifests, CheckpointsConfig(**settings))
    assert doomed == sorted(doomed)
    return [manifest.updates for name, manifest in manifests.items() if name not in doomed]


def test_the_last_are_kept():
    assert kept(history(*[None] * 6), keep_last=2) == [4, 5]
    assert kept(history(*[None] * 2), keep_last=3) == [0, 1]
    assert kept({}, keep_last=1) == []


def test_the_best_are_kept_and_of_two_equals_the_earlier():
    scores = (None, 5.0, 9.0, 9.0, 1.0, None, None)
    assert kept(history(*scores), keep_last=1) == [2, 6]
    assert kept(history(*scores), keep_last=1, keep_best=2) == [2, 3, 6]
    assert kept(history(*scores), keep_last=1, keep_best=0) == [6]


def test_no_number_is_never_the_best():
    nan, infinite = float("nan"), float("inf")
    assert kept(history(nan, 1.0, infinite, 2.0, -infinite, nan), keep_last=1) == [3, 5]
    assert best(history(nan, infinite, -infinite), CheckpointsConfig()) == set()


def test_another_metric_may_say_what_best_means():
    assert kept(history(5.0, 1.0, 1.0), keep_last=1, best_metric="evaluation/length_mean") == [2]


def test_one_is_kept_for_every_span_of_time():
    manifests = history(*[None] * 13, hours_apart=0.25)
    assert kept(manifests, keep_last=1, keep_every_hours=1.0) == [0, 4, 8, 12]
    assert kept(manifests, keep_last=1) == [12]


def test_a_clock_that_was_set_back_ends_no_keeping():
    manifests = history(*[None] * 9, hours_apart=0.5)
    later = {f"u{9 + i:08d}": manifest(9 + i, hours=0.5 * i - 10_000) for i in range(9)}
    assert kept({**manifests, **later}, keep_last=1, keep_every_hours=2.0) == [0, 4, 8, 9, 13, 17]


@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=30), st.floats(0.1, 2.0), st.integers(1, 3))
def test_deleting_as_one_goes_leaves_no_gap(pauses, span, keep_last):
    config = CheckpointsConfig(keep_last=keep_last, keep_every_hours=span)
    there, hours = {}, 0.0
    for updates, pause in enumerate(pauses):
        hours += pause
        there[f"u{updates:08d}"] = manifest(updates, hours=hours)
        for name in to_delete(there, config):
            del there[name]
        assert to_delete(there, config) == []
    times = [datetime.fromisoformat(m.saved_at) for m in there.values()]
    longest_pause = max(pauses, default=0.0)
    gaps = [(after - before).total_seconds() / 3600 for before, after in pairwise(times)]
    assert all(gap < span + longest_pause + 1e-3 for gap in gaps)
    assert [m.updates for m in there.values()][-keep_last:] == list(range(len(pauses)))[-keep_last:]


@pytest.mark.parametrize(
    "settings",
    [{"keep_last": 0}, {"keep_best": -1}, {"every_updates": -1}, {"every_seconds": -1.0}, {"keep_every_hours": -0.5}],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match="must be"):
        CheckpointsConfig(**settings)
