import pytest

from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.observers.progress import Progress, duration, number, percent


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def report(update: int, **metrics: float) -> UpdateReport:
    return UpdateReport(update, update * 1000, 0, 0, {name.replace("__", "/"): v for name, v in metrics.items()})


def test_time_left_by_updates_counts_this_process_only_and_ticks_down():
    time = Time()
    progress = Progress(100, None, first_update=50, now=time)
    assert progress.seconds_left is None and progress.fraction == 0.5
    time.now = 20.0
    progress.note(report(60))
    assert progress.fraction == pytest.approx(0.6)
    assert progress.seconds_left == pytest.approx(80.0)  # 2 seconds for each of 40 updates
    time.now = 30.0
    assert progress.seconds_left == pytest.approx(70.0)
    time.now = 1000.0
    assert progress.seconds_left == 0.0


def test_time_left_by_minutes_counts_all_processes():
    time = Time()
    progress = Progress(None, 10.0, now=time)
    progress.note(report(1, time__total_seconds=150.0))
    assert progress.fraction == pytest.approx(0.25)
    assert progress.seconds_left == pytest.approx(450.0)


def test_the_limit_that_comes_first_decides():
    time = Time()
    progress = Progress(100, 1.0, now=time)
    time.now = 30.0
    progress.note(report(10, time__total_seconds=30.0))
    assert progress.fraction == pytest.approx(0.5)
    assert progress.seconds_left == pytest.approx(30.0)


def test_without_a_limit_it_says_how_long_it_has_been():
    time = Time()
    progress = Progress(None, None, now=time)
    time.now = 75.0
    progress.note(report(3))
    assert progress.fraction is None
    assert progress.headline() == ["update 3", "1:15 gone"]


def test_the_best_evaluation_is_kept_and_survives_a_resume():
    progress = Progress(10, None)
    for update, value in ((1, 5.0), (2, 9.0), (3, 7.0)):
        progress.note(EvaluationReport(update, 0, {"evaluation/return_mean": value}))
    assert dict(progress.figures()) == {"evaluation": "7", "best": "9 at 2"}
    resumed = Progress(10, None)
    resumed.restore(progress.state())
    assert dict(resumed.figures())["best"] == "9 at 2"
    resumed.restore(Progress(10, None).state())
    assert resumed.figures() == []


def test_figures_tell_what_is_there():
    progress = Progress(10, None)
    progress.note(report(2, return__mean=12.345, time__decisions_per_second=1234.5, loss__value=0.5, weights__lag=1))
    assert progress.figures() == [("decisions", "2,000 (1,234/s)"), ("return", "12.35")]
    assert progress.learning() == [("value loss", "0.5"), ("lag", "1")]


def test_where_there_are_levels_it_is_told_how_often_they_are_cleared():
    progress = Progress(10, None)
    progress.note(report(2, return__mean=12.0, episode__cleared=0.375, episode__x=2345.6))
    progress.note(EvaluationReport(2, 0, {"evaluation/return_mean": 9.0, "evaluation/cleared": 0.5}))
    # Worth more, cleared less often: not better.
    progress.note(EvaluationReport(3, 0, {"evaluation/return_mean": 99.0, "evaluation/cleared": 0.25}))
    assert progress.figures()[1:] == [
        ("cleared", "37.5 %"),
        ("x", "2,346"),
        ("return", "12"),
        ("evaluation", "25 %"),
        ("best", "50 % at 2"),
    ]
    resumed = Progress(10, None)
    resumed.restore(progress.state())
    assert resumed.figures() == [("best", "50 % at 2")]


def test_the_state_of_an_older_version_is_read():
    resumed = Progress(10, None)
    resumed.restore({"best": 9.0, "best_update": 2})
    assert resumed.figures() == [("best", "9 at 2")]


def test_short_words():
    assert [duration(s) for s in (0, 7.4, 754, 3723)] == ["0:00", "0:07", "12:34", "1:02:03"]
    assert [percent(v) for v in (0.0, 0.075, 1.0)] == ["0 %", "7.5 %", "100 %"]
    assert [number(v) for v in (0.000123456, 21.0, 12345.6, float("nan"))] == ["0.0001235", "21", "12,346", "nan"]


def test_a_share_is_never_compared_with_a_return():
    progress = Progress(100, None)
    for update, metrics in enumerate(
        ({"evaluation/cleared": 0.5, "evaluation/return_mean": 30.0}, {"evaluation/return_mean": 20.0})
    ):
        progress.note(EvaluationReport(update, 0, metrics))
    assert progress.figures()[-1] == ("best", "20 at 1")
    progress.note(EvaluationReport(2, 0, {"evaluation/cleared": 0.25, "evaluation/return_mean": 10.0}))
    assert progress.figures()[-1] == ("best", "25 % at 2")
