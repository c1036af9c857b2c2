"""How fast a run is, where its time goes, whether it gets anywhere: from its rows alone, in one walk."""

import math

import pytest

from respawn.contracts.records import UpdateReport
from respawn.evaluation.inspection.pace import NOW_ROWS, measure_pace


def row(update, episodes=0, **metrics):
    return UpdateReport(
        update, update, update, episodes, {name.replace("__", "/"): value for name, value in metrics.items()}
    )


def timed(update, per_second, seconds=1.0, collect=0.25, learn=0.5, idle=0.0, other=0.25):
    shares = {"time__collect_share": collect, "time__learn_share": learn, "time__idle_share": idle}
    shares["time__other_share"] = other
    return row(update, time__decisions_per_second=per_second, time__update_seconds=seconds, **shares)


def test_no_rows_say_nothing():
    found = measure_pace([])
    assert (found.rows, found.now_per_second, found.shares, found.return_now) == (0, None, {}, None)
    assert not found.is_not_finite_now and found.first_row_update is None


def test_now_is_the_newest_rows_and_before_all_others():
    found = measure_pace(
        [timed(at, 100.0, 2.0) for at in range(1, 31)] + [timed(at, 40.0, 5.0) for at in range(31, 51)]
    )
    assert NOW_ROWS == 20 and (found.now_per_second, found.before_per_second) == (40.0, 100.0)
    assert (found.now_seconds, found.before_seconds, found.longest_seconds) == (100.0, 60.0, 5.0)


def test_a_short_run_has_no_before():
    found = measure_pace([timed(at, 100.0) for at in range(1, 21)])
    assert (
        found.first_row_update == 1
        and found.now_per_second == 100.0
        and found.before_per_second is None
        and found.before_seconds == 0.0
    )


def test_shares_are_of_the_time_and_not_of_the_rows():
    found = measure_pace([timed(1, 1.0, 9.0, learn=0.5, other=0.25), timed(2, 1.0, 1.0, learn=0.0, other=0.75)])
    assert found.shares == pytest.approx({"collect": 0.25, "learn": 0.45, "idle": 0.0, "other": 0.3})


def test_collecting_beside_the_loop_is_no_part_of_its_time():
    found = measure_pace([timed(1, 1.0, collect=1.9, learn=0.7, idle=0.1, other=0.2)])
    assert found.shares == pytest.approx({"learn": 0.7, "idle": 0.1, "other": 0.2})


def test_rows_of_older_versions_have_no_shares():
    found = measure_pace([row(1, time__decisions_per_second=5.0), row(2)])
    assert found.shares == {} and found.now_per_second == 5.0 and found.now_seconds == 0.0


def test_when_the_first_episode_ended_and_the_first_progress_came():
    rows = [row(1, world__forward_share=0.0), row(2, 0, world__forward_share=0.5), row(3, 4, world__forward_share=0.0)]
    found = measure_pace(rows)
    assert (found.first_episode_update, found.first_progress_update) == (3, 2)
    assert found.progress_metric == "world/forward_share" and found.progress_now == pytest.approx(1 / 6)


def test_where_the_world_tells_no_ground_how_far_episodes_came_is_progress():
    found = measure_pace([row(1), row(2, 1, episode__x=40.0)])
    assert (found.progress_metric, found.first_progress_update) == ("episode/x", 2)
    assert measure_pace([row(1)]).progress_metric is None


def test_returns_now_and_at_best():
    values = [1.0, 5.0, math.nan, 3.0]
    found = measure_pace([row(at, return__mean=value) for at, value in enumerate(values, start=1)])
    assert (found.return_now, found.return_best) == (3.0, 5.0)


def test_numbers_that_are_not_finite_are_counted_and_placed():
    rows = [
        row(1, loss__policy=1.0),
        row(2, loss__policy=math.nan, gradient__norm=math.inf),
        row(3, loss__policy=math.nan),
    ]
    found = measure_pace(rows)
    assert found.not_finite == {"loss/policy": 2, "gradient/norm": 1} and found.first_not_finite_update == 2
    assert found.is_not_finite_now
    assert not measure_pace([*rows, row(4, loss__policy=1.0)]).is_not_finite_now
    assert measure_pace([row(1, time__wait_seconds=math.nan)]).not_finite == {}
