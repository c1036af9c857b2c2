from respawn.evaluation.run_record import HARD_STARTS, iso_time, read_record
from respawn.testing.fake_fish_run import make_fish_run


def test_everything_of_a_run_is_read(v40):
    record = read_record(v40)
    assert (len(record.updates), len(record.probes), len(record.rulings[HARD_STARTS])) == (60, 7, 60)
    assert record.is_fish and record.planned_updates == 60 and record.name == "v40"
    assert record.stage_type(8) == "ne" and record.stage_type(56) == "main" and record.stage_type(99) is None
    assert record.time_of(60) == "2025-11-12T08:02:36+00:00" and record.time_of(99) is None
    assert iso_time(None) is None
    assert record.series("episode/survival")[0] is None and record.series("episode/survival")[1] > 0.5


def test_a_warning_is_one_thing_with_a_beginning_and_an_end(v40):
    (warning,) = read_record(v40).warnings
    assert (warning["iteration"], warning["resolved_iteration"], warning["duration_iterations"]) == (57, 60, 4)
    assert warning["threshold"] == 0.7 and warning["tail_stage_type"] == "main" and "event" not in warning


def test_a_warning_that_goes_on_has_no_end_yet(tmp_path):
    (warning,) = read_record(make_fish_run(tmp_path, updates=58)).warnings
    assert warning["iteration"] == 57 and warning["resolved_iteration"] is None


def test_torn_last_lines_are_passed_over(fish):
    for path in (fish.updates, fish.probes, fish.rulings):
        path.write_bytes(path.read_bytes()[:-20])
    record = read_record(fish)
    assert (len(record.updates), len(record.probes)) == (59, 6)
    assert record.warnings[0]["resolved_iteration"] is None, "its end was in the torn line"
