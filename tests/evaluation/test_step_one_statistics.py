import math

import pytest

from respawn.evaluation.step_one_statistics import (
    ne_high_speed_share,
    stage_summary,
    step_one_clusters,
    summed_up,
    top_share,
    worst_seeds,
)


def death(heading, speed, **facts):
    velocity = [speed * math.cos(math.radians(heading)), speed * math.sin(math.radians(heading))]
    return {"predator_velocity": velocity, "fish_idx": 7, **facts}


def test_clusters_are_bins_of_30_degrees_and_of_speed():
    records = [death(91, 1.7), death(119, 1.9), death(119, 2.1), death(-10, 0.1)]
    clusters = step_one_clusters(records)
    assert (clusters["total_events"], clusters["angle_bin_deg"], clusters["speed_bin"]) == (4, 30.0, 0.4)
    assert clusters["clusters"][0] == {
        **{"angle_deg_start": 90.0, "angle_deg_end": 120.0, "speed_bin_start": 1.6, "speed_bin_end": 2.0},
        **{"count": 2, "share": 0.5},
    }
    assert [(c["angle_deg_start"], c["speed_bin_start"]) for c in clusters["clusters"][1:]] == [
        (90.0, 2.0),
        (330.0, 0.0),
    ]
    assert top_share(clusters) == 0.5


def test_an_edge_belongs_to_the_bin_above_it():
    (cluster,) = step_one_clusters([{"predator_velocity": [3 * 0.4, -1e-17]}])["clusters"]
    assert (cluster["angle_deg_start"], cluster["speed_bin_start"]) == (0.0, pytest.approx(1.2))


def test_fast_predators_to_the_north_east_as_the_reference_has_it():
    records = [death(100, 1.7), death(140, 2.9), death(100, 1.5), death(89, 2.5), death(151, 2.5)]
    assert ne_high_speed_share(step_one_clusters(records)) == pytest.approx(2 / 5)


def test_without_deaths_there_is_no_share():
    nothing = step_one_clusters([{"predator_velocity": None}, {}])
    assert nothing["clusters"] == [] and top_share(nothing) is None and ne_high_speed_share(nothing) is None


def test_the_worst_seeds_have_their_first_record_as_a_sample():
    records = [death(10 + 30 * n, 1.0, iteration=n) for n in range(8)] + [death(12, 1.1, iteration=9, fish_idx=3)]
    summary = worst_seeds(records)
    assert len(summary["clusters"]) == 6 and summary["total_events"] == 9
    first = summary["clusters"][0]
    assert first["count"] == 2 and first["sample"]["iteration"] == 0 and first["sample"]["fish_idx"] == 7
    assert first["sample"]["angle_deg"] == pytest.approx(10) and first["sample"]["speed"] == pytest.approx(1.0)
    assert first["sample"]["predator_velocity"] == records[0]["predator_velocity"]


def test_records_are_summed_up_by_stage():
    records = [death(0, speed, iteration=8, tail_stage_type="ne") for speed in (1.0, 2.0)]
    records += [death(0, 1.5, iteration=n, tail_stage_type="main") for n in (24, 32, 56)] + [death(0, 1.0)]
    summary = stage_summary(records)
    assert summary["total_events"] == 6
    assert [(s["stage_type"], s["count"], s["share"]) for s in summary["stages"]] == [
        ("main", 3, 0.5),
        ("ne", 2, pytest.approx(1 / 3)),
        ("unknown", 1, pytest.approx(1 / 6)),
    ]
    assert (summary["stages"][0]["iteration_min"], summary["stages"][0]["iteration_max"]) == (24, 56)
    assert summary["stages"][1]["predator_speed"]["mean"] == pytest.approx(1.5)
    assert summary["stages"][2]["iteration_min"] is None
    assert stage_summary([]) == {"total_events": 0, "stages": []}


def test_numbers_in_words_of_statistics():
    told = summed_up([1.0, 2.0, 3.0])
    assert told["std"] == pytest.approx(math.sqrt(2 / 3)) and (told["min"], told["p50"], told["max"]) == (1, 2, 3)
    assert summed_up([])["count"] == 0 and summed_up([])["mean"] is None
