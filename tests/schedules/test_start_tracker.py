import pytest

from respawn.schedules.hard_start_config import StartWarningConfig
from respawn.schedules.start_tracker import StageTracker
from respawn.schedules.start_warnings import StartWarning
from respawn.testing.suites.saveable import check_saveable

STAGES = [("a", "ne", 4), ("b", "main", 2), ("c", "ne", 2), ("d", "", 2)]


def tracker(cycled=False):
    return StageTracker(STAGES, cycled=cycled)


def test_the_status_of_every_place():
    status = tracker().status(5)
    assert status == {
        "index": 1,
        "label": "b",
        "stage_type": "main",
        "progress": 0.5,
        "remaining": 5,
        "remaining_ratio": 0.5,
        "remaining_by_type": {"ne": 2, "main": 1, "unknown": 2},
        "remaining_ratio_by_type": {"ne": 0.2, "main": 0.1, "unknown": 0.2},
        "reinjections_by_type": {"ne": 0, "main": 0, "unknown": 0},
        "ne_reinjections": 0,
        "consumed": 5,
        "total_capacity": 10,
    }
    assert [tracker().status(place)["label"] for place in range(12)] == [*"aaaabbccdddd"]
    assert [tracker().status(place)["ne_reinjections"] for place in (0, 5, 6, 11)] == [0, 0, 1, 1]


def test_past_the_end_the_last_stage_is_over():
    status = tracker().status(25)
    assert (status["label"], status["progress"], status["remaining"], status["remaining_ratio"]) == ("d", 1.0, 0, 0.0)
    assert tracker().visit_at(10) is None


def test_a_cycled_queue_begins_again_and_its_stages_come_back():
    cycled = tracker(cycled=True)
    assert [cycled.visit_at(place) for place in (0, 4, 9, 10, 14, 26)] == [0, 1, 3, 4, 5, 10]
    status = cycled.status(16)
    assert (status["label"], status["remaining"], status["ne_reinjections"]) == ("c", 4, 3)
    assert cycled.start_of(6) == 16


def test_what_was_passed_over_has_not_come_back():
    assert tracker().reinjections(8)["ne"] == 1
    assert tracker().reinjections(8, passed_over=[2])["ne"] == 0


def test_the_next_of_a_kind():
    assert [tracker().next_visit_of("ne", place) for place in (0, 5, 6, 12)] == [2, 2, None, None]
    assert tracker(cycled=True).next_visit_of("ne", 6) == 4
    assert tracker().next_visit_of("buffer", 0) is None


def watched(warning, ratios, first=1, needed=None):
    events = []
    for update, ratio in enumerate(ratios, first):
        status = {"label": "x", "stage_type": "ne", "remaining_ratio": ratio, "remaining": round(100 * ratio)}
        events.append([event["event"] for event in warning.observe(update, status, needed)])
    return events


def test_a_warning_has_patience_a_duration_and_an_end():
    warning = StartWarning(StartWarningConfig(ratio=0.5, patience=2))
    assert watched(warning, [0.6, 0.5, 0.51, 0.5, 0.4, 0.3]) == [[], [], [], [], ["triggered"], []]
    assert warning.facts(6, None) == {
        "warning_active": True,
        "warning_since": 5,
        "warning_duration": 2,
        "warning_threshold": 0.5,
    }
    status = {"label": "x", "stage_type": "ne", "remaining_ratio": 0.9, "remaining": 90}
    (event,) = warning.observe(7, status, None)
    assert event == {
        "event": "cleared",
        "iteration": 5,
        "resolved_iteration": 7,
        "duration_iterations": 3,
        "clear_ratio": 0.9,
    }
    assert warning.facts(7, None)["warning_duration"] == 0
    assert warning.resolve(8, 0.9, "run_end") == []


def test_no_ratio_no_warning():
    assert watched(StartWarning(None), [0.0] * 5) == [[]] * 5
    assert watched(StartWarning(StartWarningConfig(ratio=0.0, patience=1)), [0.0] * 5) == [[]] * 5


def test_a_dynamic_threshold_is_what_the_rest_of_the_run_needs():
    warning = StartWarning(StartWarningConfig(patience=1, dynamic=True))
    assert watched(warning, [0.4], needed=0.3) == [[]]
    assert watched(warning, [0.4], first=2, needed=0.45) == [["triggered"]]
    assert watched(warning, [0.4], first=3, needed=0.0) == [["cleared"]]


@pytest.mark.parametrize("ratios", [[0.4], [0.4, 0.4]])
def test_a_warning_can_be_saved(ratios):
    check_saveable(
        lambda: StartWarning(StartWarningConfig(ratio=0.5, patience=2)),
        lambda warning: watched(warning, ratios),
        lambda warning: warning.facts(9, None),
    )
