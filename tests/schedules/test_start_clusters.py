import math

import pytest

from respawn.errors import ConfigError
from respawn.schedules.start_clusters import StartFilter, cluster_key, composition, filter_starts
from respawn.schedules.start_files import HardStart, read_start_file, velocity_features


def start(speed, heading, **features):
    velocity = [speed * math.cos(math.radians(heading)), speed * math.sin(math.radians(heading))]
    return HardStart({"predator_velocity": velocity}, {**velocity_features(velocity), **features})


SLOW = [start(0.1 + 0.01 * i, 45, difficulty=0.1) for i in range(10)]
FAST = [start(2.0 + 0.01 * i, 200, difficulty=0.9) for i in range(10)]


def test_bins_of_speed_and_heading():
    settings = StartFilter()
    keys = [cluster_key(start(speed, heading), settings) for speed, heading in ((0.1, 10), (0.5, 40), (2.8, 350))]
    assert keys == [(0, 0), (1, 1), (7, 11)]
    assert cluster_key(HardStart({"a": 1.0}), settings) == (-1, -1)
    assert cluster_key(start(1.6, 60.0), settings) == (4, 2)  # edges belong to the bin above them
    assert cluster_key(start(1.6, 359.9999999), settings)[1] == 0


def test_a_mix_is_described_by_its_clusters():
    told = composition([*SLOW, *FAST[:5]], StartFilter())
    assert told["count"] == 15
    assert [cluster["count"] for cluster in told["clusters"]] == [10, 5]
    largest = told["clusters"][0]
    assert largest["share"] == pytest.approx(2 / 3) and largest["difficulty"] == pytest.approx(0.1)
    assert (largest["angle_deg_start"], largest["angle_deg_end"]) == (30.0, 60.0)
    assert (largest["speed_bin_start"], largest["speed_bin_end"]) == (0.0, 0.4)
    assert told["speed"]["min"] == pytest.approx(0.1) and told["speed"]["max"] == pytest.approx(2.04)
    empty = composition([], StartFilter())
    assert (empty["count"], empty["speed"], empty["clusters"]) == (0, None, [])


def test_hard_clusters_are_dropped_or_thinned():
    dropped = filter_starts([*SLOW, *FAST], StartFilter(drop_from_difficulty=0.9))
    assert dropped.kept == tuple(SLOW)
    assert dropped.report["dropped"] == {"duplicates": 0, "hard_clusters": 10, "thinned": 0}
    assert (dropped.report["before"]["count"], dropped.report["after"]["count"]) == (20, 10)
    thinned = filter_starts([*SLOW, *FAST], StartFilter(thin_from_difficulty=0.5, thin_keep=0.3))
    assert thinned.kept == (*SLOW, FAST[0], FAST[3], FAST[6])
    assert thinned.report["dropped"]["thinned"] == 7
    least = filter_starts(FAST, StartFilter(thin_from_difficulty=0.5, thin_keep=0.0))
    assert least.kept == (FAST[0],)


def test_difficulty_may_be_measured_elsewhere():
    hard_to_the_left = filter_starts(
        [*SLOW, *FAST],
        StartFilter(drop_from_difficulty=0.5),
        lambda one: 1.0 if one.features["heading_deg"] < 90 else 0.0,
    )
    assert hard_to_the_left.kept == tuple(FAST)
    unknown = filter_starts(SLOW, StartFilter(drop_from_difficulty=0.0), lambda one: None)
    assert unknown.kept == tuple(SLOW)


def test_duplicates_are_one_within_a_tolerance():
    assert len(filter_starts(SLOW, StartFilter(duplicate_tolerance=0.001)).kept) == 10
    assert len(filter_starts(SLOW, StartFilter(duplicate_tolerance=0.02)).kept) == 4
    twice = filter_starts([*SLOW, *SLOW], StartFilter(duplicate_tolerance=0.0))
    assert twice.kept == tuple(SLOW) and twice.report["dropped"]["duplicates"] == 10
    shapes = [HardStart({"a": [1.0, 2.0]}), HardStart({"a": [1.0]}), HardStart({"b": [1.0]})]
    assert len(filter_starts(shapes, StartFilter(duplicate_tolerance=9.0)).kept) == 3


def test_no_more_of_a_cluster_than_wanted_and_order_is_kept():
    mixed = [one for pair in zip(SLOW, FAST, strict=True) for one in pair]
    kept = filter_starts(mixed, StartFilter(most_per_cluster=2)).kept
    assert kept == (SLOW[0], FAST[0], SLOW[5], FAST[5])


def test_shipped_files_can_be_sorted():
    filtered = filter_starts(read_start_file("v34-ne"), StartFilter(most_per_cluster=1))
    assert len(filtered.kept) == len(filtered.report["before"]["clusters"]) == 8


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"speed_bin": 0.0}, "a start filter's speed-bin must be above 0"),
        ({"heading_bin_deg": 400.0}, "a start filter's heading-bin-deg must be from"),
        ({"thin_keep": 1.5}, "a start filter's thin-keep must be from"),
        ({"duplicate_tolerance": -1.0}, "a start filter's duplicate-tolerance must be at least 0"),
        ({"most_per_cluster": 0}, "a start filter's most-per-cluster must be at least 1"),
        ({"drop_from_difficulty": float("nan")}, "a start filter's drop-from-difficulty must be finite, not nan"),
    ],
)
def test_what_cannot_sort_is_refused(settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        StartFilter(**settings)


def test_starts_at_a_place_are_a_cluster_of_that_place():
    settings = StartFilter(most_per_cluster=2)
    starts = [HardStart({"a": float(i)}, {"place": 11_000 + i // 3, "x": 64.0 * i}) for i in range(9)]
    assert {cluster_key(start, settings) for start in starts} == {(11_000,), (11_001,), (11_002,)}
    kept = filter_starts(starts, settings)
    assert len(kept.kept) == 6
    assert [cluster["place"] for cluster in kept.report["after"]["clusters"]] == [11_000, 11_001, 11_002]
