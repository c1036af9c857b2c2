import json
from pathlib import Path

import numpy as np
import pytest

from respawn.evaluation.artefacts.write import artefacts_folder, write_artefacts
from respawn.runs.reader import read_probes
from respawn.schedules.start_files import read_start_file
from respawn.testing.fake_fish_run import make_fish_run

FILES = {
    *("schedule_trace.json", "training_stats.json", "step_one_worst_seeds.json", "step_one_stage_summary.json"),
    *("death_stats.json", "eval_multi_history.jsonl", "penalty_stage_debug.jsonl", "pre_roll_stats.jsonl"),
    "step_one_clusters.jsonl",
}
STATS = {
    *("iterations", "survival_rate", "avg_reward", "episode_length", "avg_num_alive", "final_num_alive"),
    *("first_death_step", "first_death_p10", "first_death_sample_size", "density_penalty_coef", "entropy_coef"),
    *("escape_boost_speed", "step_one_deaths", "step_one_death_ratio", "prewarm_override_ratio"),
    *("prewarm_override_hits", "prewarm_override_episodes", "step_one_top_share", "step_one_ne_high_speed_share"),
    *("tail_stage_index", "tail_stage_progress", "tail_stage_label", "tail_stage_type", "tail_queue_remaining"),
    *("tail_queue_remaining_ratio", "tail_stage_remaining_by_type", "tail_stage_reinjections_by_type"),
    *("tail_ne_reinjections", "tail_stage_warn_active", "tail_stage_warn_since", "tail_stage_warn_duration"),
    *("tail_forced_resets", "tail_forced_resets_total", "tail_prewarm_injections", "tail_prewarm_injections_total"),
}
TRACE = (
    STATS - {"iterations", "avg_reward", "episode_length", "avg_num_alive", "final_num_alive", "step_one_deaths"}
) | {
    "iteration",
    "step_one_death_count",
}
HISTORY = {
    *("iteration", "timestamp", "summary", "death_stats", "density_penalty_coef", "escape_boost_speed"),
    *("step_one_death_count", "step_one_death_ratio", "episode_seeds", "multi_eval_num_fish", "multi_eval_episodes"),
    *("tail_stage_label", "tail_stage_type", "tail_stage_remaining_by_type", "tail_stage_warn_active"),
    *("tail_stage_warn_since", "death_hist_path", "step_one_deaths", "step_one_clusters"),
    *("step_one_ne_high_speed_share", "pre_roll_stats_summary", "penalty_gate", "tail_replays"),
}


def document(folder, name):
    return json.loads((artefacts_folder(folder) / name).read_text())


def lines(folder, name):
    return [json.loads(line) for line in (artefacts_folder(folder) / name).read_text().splitlines()]


@pytest.fixture
def written(fish):
    made = write_artefacts(fish)
    assert made.left_out == {}
    return fish


def test_every_file_is_there(written):
    assert {path.name for path in artefacts_folder(written).iterdir()} == FILES | {"tb_logs"}


def test_the_trace_has_a_row_for_each_update_with_all_keys(written):
    trace = document(written, "schedule_trace.json")
    assert trace["generated_at"] == "2025-11-12T08:02:36+00:00"
    assert [row["iteration"] for row in trace["trace"]] == list(range(1, 61))
    assert all(set(row) >= TRACE for row in trace["trace"])
    first, last = trace["trace"][0], trace["trace"][-1]
    assert first["survival_rate"] is None and first["step_one_death_ratio"] is None
    assert (last["tail_ne_reinjections"], last["tail_stage_warn_duration"]) == (2, 4)
    assert last["tail_queue_remaining_ratio"] == pytest.approx(0.6833, abs=1e-4)
    assert last["tail_prewarm_injections_total"] == 4864 and last["density_penalty_coef"] == 0.05
    assert [w["iteration"] for w in trace["tail_stage_warnings"]] == [57]
    assert [row["iteration"] for row in trace["trace"] if "step_one_deaths" in row] == [8, 16, 24, 32, 40, 48, 56]


def test_stages_change_where_they_did_in_the_reference(written):
    indices = [row["tail_stage_index"] for row in document(written, "schedule_trace.json")["trace"]]
    changes = [n + 1 for n in range(1, 60) if indices[n] != indices[n - 1]]
    assert changes == [11, 21, 45, 54] and indices[-1] == 4


def test_training_stats_are_lists_of_one_length(written):
    stats = document(written, "training_stats.json")
    columns = {name: column for name, column in stats.items() if isinstance(column, list)}
    assert set(columns) >= STATS and {len(column) for column in columns.values()} == {60}
    assert stats["step_one_deaths"][7] > 0 and stats["step_one_deaths"][6] is None
    assert stats["first_death_sample_size"][0] == 0 and stats["first_death_sample_size"][-1] == 100


def test_the_history_has_a_line_for_each_probe_with_all_keys(written):
    history = lines(written, "eval_multi_history.jsonl")
    probes = list(read_probes(written))
    assert [row["iteration"] for row in history] == [8, 16, 24, 32, 40, 48, 56]
    for row, probe in zip(history, probes, strict=True):
        assert set(row) >= HISTORY
        assert row["summary"] == probe.facts["summary"] and row["death_stats"] == probe.facts["death_stats"]
        assert row["penalty_gate"]["event"] and row["timestamp"]
        assert row["step_one_clusters"]["total_events"] == row["step_one_death_count"]
    assert [row["tail_stage_type"] for row in history] == ["ne", "ne", "main", "main", "main", "ne", "main"]


def test_a_warning_is_told_once_by_the_next_probe_as_it_stood(tmp_path):
    run = make_fish_run(tmp_path, updates=64)
    write_artefacts(run)
    told = {row["iteration"]: row.get("tail_stage_warning_events") for row in lines(run, "eval_multi_history.jsonl")}
    assert [iteration for iteration, events in told.items() if events] == [64]
    assert told[64][0]["iteration"] == 57 and told[64][0]["duration_iterations"] == 4


def test_the_gate_is_told_with_what_it_saw(written):
    rows = lines(written, "penalty_stage_debug.jsonl")
    assert len(rows) == 7 and all(row["event"]["event"] and row["summary"] and row["death_stats"] for row in rows)
    assert all(row["criteria"]["success"] for row in rows)


def test_pre_rolls_and_clusters_have_a_line_for_each_probe(written):
    pre_rolls, clusters = lines(written, "pre_roll_stats.jsonl"), lines(written, "step_one_clusters.jsonl")
    assert len(pre_rolls) == len(clusters) == 7
    assert all(sum(row["summary"]["spawn_angle_histogram"]["counts"]) == 20 == len(row["samples"]) for row in pre_rolls)
    assert all(
        {"iteration", "timestamp", "clusters", "tail_stage_label", "tail_stage_type"} == set(r) for r in clusters
    )


def test_worst_seeds_can_be_dealt_again(written):
    path = artefacts_folder(written) / "step_one_worst_seeds.json"
    seeds = json.loads(path.read_text())
    assert {"generated_at", "run_name", "records", "summary"} == set(seeds)
    assert len(seeds["records"]) == seeds["summary"]["total_events"]
    starts = read_start_file(str(path))
    assert len(starts) == len(seeds["summary"]["clusters"]) <= 6


def test_deaths_by_stage_sum_up(written):
    summary = document(written, "step_one_stage_summary.json")["stage_summary"]
    assert {stage["stage_type"] for stage in summary["stages"]} == {"main", "ne"}
    assert sum(stage["count"] for stage in summary["stages"]) == summary["total_events"]
    assert sum(stage["share"] for stage in summary["stages"]) == pytest.approx(1)


def test_death_stats_are_recomputed_from_deaths(fish):
    rows = fish.probes.read_text().splitlines()
    last = json.loads(rows[-1])
    last["facts"]["death_stats"] = {"p10": -5.0}
    fish.probes.write_text("\n".join([*rows[:-1], json.dumps(last)]) + "\n")
    write_artefacts(fish)
    deaths = [step for record in last["facts"]["records"] for step in record["death_timesteps"]]
    assert document(fish, "death_stats.json")["p10"] == np.percentile([500 if s < 0 else s for s in deaths], 10)


def test_a_second_time_replaces_and_gives_the_same_bytes(written):
    def contents():
        return {path: path.read_bytes() for path in artefacts_folder(written).rglob("*") if path.is_file()}

    before = contents()
    write_artefacts(written)
    assert contents() == before


def test_no_path_leads_out_of_the_run(fish, tmp_path):
    rows = [json.loads(line) for line in fish.probes.read_text().splitlines()]
    for row, path in zip(rows, [str(fish.path.absolute() / "videos/a.mp4"), "/elsewhere/b.mp4", None], strict=False):
        row["facts"]["films"] = [{"video_path": path, "seed": 1, "episode": 0, "final_num_alive": 3}]
    fish.probes.write_text("".join(json.dumps(row) + "\n" for row in rows))
    histogram = fish.path / "plots" / "v40_multi_eval_hist" / "v40_iter008_death_hist.png"
    histogram.parent.mkdir(parents=True)
    histogram.touch()
    write_artefacts(fish)
    history = lines(fish, "eval_multi_history.jsonl")
    assert [row["tail_replays"][0]["video_path"] for row in history[:3]] == ["videos/a.mp4", "b.mp4", None]
    assert history[0]["death_hist_path"] == "plots/v40_multi_eval_hist/v40_iter008_death_hist.png"
    assert history[1]["death_hist_path"] is None, "it was not drawn"
    for path in artefacts_folder(fish).glob("*.json*"):
        assert str(tmp_path) not in path.read_text() and str(Path.home()) not in path.read_text()


def test_the_first_update_alone_is_enough_for_some(tmp_path):
    run = make_fish_run(tmp_path, updates=1)
    made = write_artefacts(run)
    assert {path.name for path in made.paths} >= {"schedule_trace.json", "training_stats.json"}
    assert made.left_out["death_stats.json"] == "no probe has been made yet"
    assert made.left_out["penalty_stage_debug.jsonl"] == "no penalty gate has ruled yet"
    (row,) = document(run, "schedule_trace.json")["trace"]
    assert row["survival_rate"] is None and set(TRACE) <= set(row)


def test_before_the_first_update_nothing_is_written(fish):
    fish.updates.unlink()
    made = write_artefacts(fish)
    assert made.paths == [] and made.left_out == {"artefacts": "no update has been made yet"}
    assert not artefacts_folder(fish).exists()


def test_without_rulings_and_episodes_there_are_nulls(fish):
    fish.rulings.unlink()
    fish.episodes.unlink()
    assert list(write_artefacts(fish).left_out) == ["penalty_stage_debug.jsonl"]
    row = document(fish, "schedule_trace.json")["trace"][-1]
    assert row["tail_stage_type"] is None and row["first_death_sample_size"] is None
    summary = document(fish, "step_one_stage_summary.json")["stage_summary"]
    assert [stage["stage_type"] for stage in summary["stages"]] == ["unknown"]


def test_what_is_no_longer_known_is_taken_away(written):
    written.probes.unlink()
    written.rulings.unlink()
    made = write_artefacts(written)
    left = {path.name for path in artefacts_folder(written).iterdir()}
    assert left == {"schedule_trace.json", "training_stats.json", "tb_logs"}
    assert set(made.left_out) == FILES - left
