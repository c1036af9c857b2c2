import math

import numpy as np
import pytest

from respawn.evaluation.fish_statistics import death_stats, last_steps, pre_roll_summary, survival_summary
from respawn.runs.reader import read_probes


def test_survivors_and_late_deaths_count_as_a_whole_episode():
    assert last_steps([[-1, 3], [500, 700]], 500) == [500, 3, 500, 500]


def test_death_stats_are_those_of_the_reference():
    deaths = [[1, 99, 100, -1], [149, 150, 500, -1]]
    stats = death_stats(deaths, 500)
    lived = [1, 99, 100, 500, 149, 150, 500, 500]
    assert list(stats) == [
        *("total_fish_samples", "survival_fraction", "mean_death_step", "median_death_step"),
        *("p10", "p25", "p75", "p90", "early_death_fraction_100", "early_death_fraction_150"),
    ]
    assert stats["total_fish_samples"] == 8
    assert stats["survival_fraction"] == 3 / 8, "a death in the last step counts as survival"
    assert stats["mean_death_step"] == np.mean(lived) and stats["median_death_step"] == 149.5
    assert [stats[f"p{q}"] for q in (10, 25, 75, 90)] == np.percentile(lived, (10, 25, 75, 90)).tolist()
    assert stats["early_death_fraction_100"] == 2 / 8 and stats["early_death_fraction_150"] == 4 / 8


def test_p10_and_early_deaths_are_recomputed_from_stored_deaths(v40):
    for probe in read_probes(v40):
        deaths = [record["death_timesteps"] for record in probe.facts["records"]]
        lived = np.array([500 if step < 0 else step for steps in deaths for step in steps])
        stats = death_stats(deaths, probe.facts["limit_steps"])
        assert stats == probe.facts["death_stats"]
        assert stats["p10"] == np.percentile(lived, 10) and stats["early_death_fraction_100"] == (lived < 100).mean()
        # the two are one statement: where p10 is above 100, at most a tenth died before
        assert (stats["p10"] >= 100) == (stats["early_death_fraction_100"] <= 0.1)


def test_nothing_played_is_null_and_not_an_error():
    assert death_stats([], 500)["p10"] is None and death_stats([[]], 500)["total_fish_samples"] == 0
    assert survival_summary([], 96)["avg_final_survival_rate"] is None


def test_survival_over_episodes():
    summary = survival_summary([48, 96, 72], 96)
    assert summary["episodes"] == 3 and summary["avg_final_survival_rate"] == 0.75
    assert summary["min_final_survival_rate"] == summary["min_of_min_survival_rate"] == 0.5
    assert summary["avg_min_survival_rate"] == summary["median_min_survival_rate"] == 0.75
    assert survival_summary([48], 96, [0.25])["avg_min_survival_rate"] == 0.25


def sample(**facts):
    return {"spawn_angle_deg": 0.0, "initial_speed": 1.5, "velocity_override": None, **facts}


def test_negative_angles_are_in_the_histogram():
    angles = [-179.0, -1.0, 1.0, 179.0, -1e-15, 180.0]
    summary = pre_roll_summary([sample(spawn_angle_deg=angle) for angle in angles])
    histogram = summary["spawn_angle_histogram"]
    assert histogram["bin_edges"] == [30.0 * n for n in range(13)]
    assert histogram["counts"] == [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1]
    assert 0 <= summary["spawn_angle_deg"]["min"] <= summary["spawn_angle_deg"]["max"] < 360


def test_pre_rolls_are_summed_up():
    samples = [
        sample(final_speed=0.5, angle_jitter_deg=[1.0, 3.0], heading_bias_angle=None),
        sample(final_speed=2.3, angle_jitter_deg=[5.0], velocity_override=[0.0, 0.0]),
        sample(final_speed=math.nan, velocity_override=False),
    ]
    summary = pre_roll_summary(samples)
    assert summary["samples"] == 3 and summary["override_count"] == 1
    assert summary["override_ratio"] == pytest.approx(1 / 3)
    assert summary["angle_jitter_deg"] | {"std": None} == {
        **{"count": 3, "mean": 3.0, "std": None, "p10": 1.4, "p50": 3.0, "p90": 4.6, "min": 1.0, "max": 5.0}
    }
    assert summary["final_speed"]["count"] == 2 and summary["heading_bias_angle"]["mean"] is None
    assert summary["final_speed_histogram"]["bin_edges"][-1] == 2.4
    assert sum(summary["final_speed_histogram"]["counts"]) == 2
    assert summary["initial_speed_histogram"]["bin_edges"][-1] == 1.6
    assert pre_roll_summary([])["override_ratio"] is None
