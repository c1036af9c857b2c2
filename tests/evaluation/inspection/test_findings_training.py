"""What is said of the training: numbers that are none, speed that was lost, progress that does not come."""

import math

import pytest

from hand_made import CONFIG, HandMade
from inspecting import about, found_in
from respawn.contracts.records import Event


@pytest.fixture
def make(tmp_path):
    def make(count=30, status="finished", config=CONFIG, **metrics):
        made = (
            HandMade(tmp_path / f"run{len(list(tmp_path.iterdir()))}", config).status(status).updates(count, **metrics)
        )
        made.checkpoint(count)
        return made

    return make


def only_at(*updates, value=math.nan, otherwise=1.0):
    return lambda update: value if update in updates else otherwise


def test_numbers_that_are_not_finite_now_are_bad_and_others_a_warning(make):
    now = about(make(**{"loss/policy": only_at(29, 30)}), "not finite: ")
    assert now.severity == "bad" and now.sentence == "not finite: loss/policy in 2 rows, first at update 29"
    once = about(make(**{"loss/value": only_at(7, value=math.inf)}), "not finite: ")
    assert once.severity == "warning" and once.sentence == "not finite: loss/value in 1 row, first at update 7"


def test_batches_that_were_kept_say_where_to_look(make):
    made = make(status="failed")
    fault = made.folder.faults / "u00000031"
    fault.mkdir(parents=True)
    (fault / "facts.json").write_text('{"sentence": "rewards are nan"}')
    finding = about(made, "numbers that are not finite came up, and 1 batch was kept; the newest: rewards are nan")
    assert finding.severity == "warning" and finding.action.startswith(f"look at {fault}/facts.json")
    assert about(made.status("finished"), "1 batch was kept").severity == "note"  # it got over it


def slowed(update):
    return 100.0 if update <= 100 else 50.0


def test_a_run_that_became_slow_says_where_its_time_goes(make):
    made = make(120, "stopped", **{"time/decisions_per_second": slowed, "time/update_seconds": 4.0})
    finding = about(made, "decisions a second")
    assert finding.severity == "warning"
    assert finding.sentence == "it makes 50 decisions a second, and made 100 before; 50% of the time goes to learn"
    assert finding.action == "see what else uses this machine (top)"
    made.folder.traces.mkdir()
    (made.folder.traces / "slow-steps-1.txt").write_text("stacks")
    assert about(made, "decisions a second").action.endswith(f"and read {made.folder.traces}/slow-steps-1.txt")
    assert about(made.status("finished"), "decisions a second").severity == "note"


@pytest.mark.parametrize(
    ("count", "seconds", "speed"),
    [
        (120, 2.0, slowed),  # twenty rows of two seconds: that passes
        (25, 10.0, lambda update: 100.0 if update <= 5 else 50.0),  # fifty seconds before are no former speed
        (120, 4.0, lambda update: 100.0 if update <= 100 else 61.0),
    ],
)
def test_what_is_no_slowness(make, count, seconds, speed):
    made = make(count, "stopped", **{"time/decisions_per_second": speed, "time/update_seconds": seconds})
    assert about(made, "decisions a second") is None


def test_a_run_in_which_no_episode_ends(make):
    endless = {"episodes": 0, "return/mean": None}
    assert about(make(156, **endless), "no episode has ended") is None  # 64 steps of each lane in an update
    finding = about(make(157, **endless), "no episode has ended in 10,048 decisions of each lane")
    assert finding.severity == "warning"
    actors = {**CONFIG, "collection": {**CONFIG["collection"], "actors": 2}}
    assert about(make(157, config=actors, **endless), "no episode has ended") is None  # they take turns
    made = make(157, **endless)
    made.event(Event("hint", "it moves: cut them", "warning", {"rule": "endless-progress", "update": 150}))
    assert about(made, "no episode has ended") is None  # the hint says so


def test_a_run_that_gets_nowhere(make):
    assert about(make(49, **{"world/forward_share": 0.0}), "there was no progress") is None
    finding = about(make(50, **{"world/forward_share": 0.0}), "there was no progress in 50 updates")
    assert finding.severity == "warning" and "docs/cold-start.md" in finding.action
    assert about(make(50, **{"world/forward_share": only_at(9, value=0.1, otherwise=0.0)}), "no progress") is None
    made = make(50, **{"world/forward_share": 0.0})
    made.event(Event("hint", "nothing moves: watch it", "warning", {"rule": "no-progress", "update": 50}))
    assert [finding.sentence[:16] for finding in found_in(made)] == ["hint no-progress"]
