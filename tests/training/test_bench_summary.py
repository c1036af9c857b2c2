import pytest

from respawn.training.bench_matrix import Result
from respawn.training.bench_summary import COLUMNS, cell_rows, ratios


def turn(decisions, seconds=1.0, **more):
    return {"decisions": decisions, "seconds": seconds, "others_cores": 0.5, **more}


def test_the_columns_of_the_system_that_this_one_replaces_come_first():
    assert COLUMNS[:9] == (
        *("mode", "num_envs", "rollout", "steps_per_sec_mean", "updates_per_sec_mean", "replay_fill_final"),
        *("gpu_util_mean_window", "duration_sec", "error"),
    )


def test_rates_are_over_the_time_of_all_turns_and_ratios_turn_by_turn():
    shares = {"collect_share": 0.75, "learn_share": 0.25, "idle_share": 0.0}
    first = Result({"mode": "sync", "num_envs": 4, "rollout": 8, "lag": 0}, seconds=9.0)
    first.turns = [
        turn(100, 1.0, updates=1, frames=400, gpu_util=40.0, replay_fill=0.25, **shares),
        turn(100, 3.0, updates=1, frames=400, gpu_util=None, replay_fill=0.5, **shares),
    ]
    second = Result({"mode": "overlap", "num_envs": 4}, turns=[turn(400, 1.0), turn(300, 1.0)])
    one, two = cell_rows([first, second], "pole")
    assert list(one) == list(COLUMNS) and one["of"] == "pole" and one["error"] is None
    assert one["steps_per_sec_mean"] == 50 and one["updates_per_sec_mean"] == 0.5 and one["frames_per_sec"] == 200
    assert one["gpu_util_mean_window"] == 40 and one["replay_fill_final"] == 0.5 and one["duration_sec"] == 9
    assert (one["collect_share"], one["learn_share"], one["others_cores"]) == (0.75, 0.25, 0.5)
    assert one["spread"] == pytest.approx((100 - 100 / 3) / (200 / 3)) and one["ratio"] == 1
    assert ratios(second.turns, first.turns) == [4, pytest.approx(9)]
    assert two["ratio"] == pytest.approx(6.5)  # 7 over all
    assert two["updates_per_sec_mean"] is None and two["gpu_util_mean_window"] is None and two["rollout"] is None


def test_the_baseline_is_the_first_that_was_measured_and_is_meant():
    failed = Result({"mode": "sync"}, error="no luck")
    slow, fast = Result({"mode": "overlap"}, turns=[turn(10)]), Result({"mode": "actors"}, turns=[turn(30)])
    assert [row["ratio"] for row in cell_rows([failed, slow, fast], "x")] == [None, 1, 3]
    by_actors = cell_rows([failed, slow, fast], "x", lambda result: result.facts["mode"] == "actors")
    assert [row["ratio"] for row in by_actors] == [None, pytest.approx(1 / 3), 1]
    assert [row["ratio"] for row in cell_rows([slow], "x", lambda result: False)] == [None]


def test_what_failed_has_a_row_and_what_is_not_known_yet_has_none():
    rows = cell_rows(
        [Result({"mode": "a"}, error="no luck"), Result({"mode": "b"}), Result({"mode": "c"}, missing="d")], "x"
    )
    assert [(row["mode"], row["error"]) for row in rows] == [("a", "no luck")]
    assert rows[0]["steps_per_sec_mean"] is None


def test_one_turn_has_no_spread():
    assert cell_rows([Result({"mode": "a"}, turns=[turn(10)])], "x")[0]["spread"] is None
