"""What a process uses up: its first look after the warm-up beside its newest, of the last process alone."""

import math
from dataclasses import replace

import pytest

from hand_made import HandMade, when
from respawn.contracts.records import Beat, ResourceReport
from respawn.evaluation.inspection.wear import Began, Trend, measure_wear


@pytest.fixture
def folder(tmp_path):
    return HandMade(tmp_path / "run").folder


def samples(*sizes, begin=3600.0, name="resource/process_rss_mib"):
    return [(when(begin - 60 * at), ResourceReport(at, at, {name: size})) for at, size in enumerate(sizes)]


def beats(*sizes):
    return [(when(600.0 - at), Beat(at, at, {}, False, {"heartbeat/rss_mib": size})) for at, size in enumerate(sizes)]


def test_a_trend_begins_after_the_warm_up(folder):
    found = measure_wear(folder, samples(10.0, *(100.0,) * 18, 250.0), [], Began())
    assert found.trends == {"memory_mib": Trend(100.0, 250.0)} and found.samples == 20
    assert found.hours == pytest.approx(17 / 60)


def test_only_the_last_process_counts(folder):
    told = samples(900.0, 900.0, begin=7200.0) + samples(100.0, 110.0)
    assert measure_wear(folder, told, [], Began(when(4000.0))).trends == {"memory_mib": Trend(100.0, 110.0)}


def test_the_order_of_rows_tells_the_last_process_where_the_clock_was_set_back(folder):
    before, after = samples(900.0, 900.0, begin=3000.0), samples(100.0, 110.0, begin=9000.0)
    later = [(time, replace(row, update=row.update + 5)) for time, row in after]
    since = Began(when(600.0), clock_went_back=True)
    assert measure_wear(folder, before + later, [], since).trends == {"memory_mib": Trend(100.0, 110.0)}
    # Set back between two samples: those before that belong to it too.
    first = [(when(500.0), replace(later[0][1], update=4))]
    assert measure_wear(folder, before + first + later, [], since).samples == 3
    assert measure_wear(folder, before, [], Began(when(600.0))).samples == 0


def test_what_is_made_again_begins_a_process_whatever_the_clock_says(folder):
    told = samples(900.0, 900.0, 900.0, begin=3600.0) + samples(100.0, 110.0, begin=600.0)
    assert measure_wear(folder, told, [], Began()).trends == {"memory_mib": Trend(100.0, 110.0)}


def test_a_trend_begins_when_the_process_had_grown_into_its_size(folder):
    told = samples(*range(100, 120))
    assert measure_wear(folder, told, [], Began(settled_update=15)).trends == {"memory_mib": Trend(115.0, 119.0)}
    assert measure_wear(folder, told, [], Began(settled_update=99)).trends == {"memory_mib": Trend(102.0, 119.0)}


def test_beats_speak_where_nothing_was_sampled(folder):
    assert measure_wear(folder, [], beats(50.0, 60.0), Began()).trends == {"memory_mib": Trend(50.0, 60.0)}
    assert measure_wear(folder, samples(1.0, 2.0), beats(50.0, 60.0), Began()).trends == {"memory_mib": Trend(1.0, 2.0)}


def test_what_the_system_does_not_tell_has_no_trend(folder):
    found = measure_wear(folder, samples(math.nan, math.nan, name="resource/open_files"), [], Began())
    assert found.trends == {}


def test_the_sliding_mean_of_a_gpu_is_better_than_a_look(folder):
    metrics = {"resource/gpu_utilisation": 100.0, "resource/gpu_utilisation_mean": 8.0}
    told = [(when(60.0 - at), ResourceReport(at, at, metrics)) for at in range(2)]
    assert measure_wear(folder, told, [], Began()).trends["gpu_utilisation"] == Trend(8.0, 8.0)


def test_without_any_sample_there_is_the_disk(folder):
    found = measure_wear(folder, [], [], Began())
    assert found.samples == 0 and found.trends == {} and found.disk_free_gib > 0 and 0 < found.disk_free_share <= 1
