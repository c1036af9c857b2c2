"""What is said of events: each kind has its severity and what to do, and hints their own."""

import ast
from pathlib import Path

import pytest

import respawn
from hand_made import healthy
from inspecting import RESUME, about, found_in
from respawn.contracts.records import Event
from respawn.evaluation.inspection.finding import SEVERITIES
from respawn.evaluation.inspection.findings_events import _ELSEWHERE, ADVICE


@pytest.fixture
def made(tmp_path):
    return healthy(tmp_path / "run")


def hint(update, rule="kl-large"):
    return Event("hint", "updates move the policy by 0.2: lower --x: or y", "warning", {"rule": rule, "update": update})


def event_kinds():
    """The kind and level of every event that is made by its name somewhere in the package."""
    for path in Path(respawn.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Event(" in text else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "Event":
                continue
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            kind = node.args[0] if node.args else named.get("kind")
            level = node.args[2] if len(node.args) > 2 else named.get("level")
            if isinstance(kind, ast.Constant) and level is not None:
                yield kind.value, ast.unparse(level)


def test_every_kind_of_warning_and_error_has_its_advice():
    kinds = {kind for kind, level in event_kinds() if level != "'info'"}
    assert len(kinds) > 25 and "observer_failed" in kinds
    assert kinds - _ELSEWHERE - ADVICE.keys() == set()
    assert {severity for severity, _ in ADVICE.values()} <= set(SEVERITIES)


def test_an_event_is_told_once_with_how_often_it_came(made):
    made.event(Event("stagnation", "first", "warning"), 20.0).event(Event("stagnation", "second", "warning"))
    finding = about(made, "stagnation")
    assert finding.severity == "warning" and finding.sentence == "stagnation, 2 times: second"


def test_what_to_do_is_filled_in(made):
    made.event(Event("observer_failed", "observer updates failed", "error"))
    made.event(Event("slow_steps", "5 steps", "warning", {"trace": "runs/x/traces/slow.txt"}))
    made.event(Event("stalled", "nothing moved", "error"))
    failed = about(made, "observer_failed")
    assert failed.severity == "bad" and failed.action.endswith(f"then: {RESUME}")
    assert about(made, "slow_steps").action == "where it was slow is in runs/x/traces/slow.txt"
    assert about(made, "stalled, once").action == f"it moved again; where it stood is in {made.folder.traces}"


def test_a_kind_that_nobody_knows_is_told_all_the_same(made):
    made.event(Event("meteor", "it fell", "error")).event(Event("drizzle", "wet", "warning"))
    assert about(made, "meteor, once: it fell").severity == "bad"
    assert about(made, "drizzle").severity == "note"


def test_what_came_before_the_last_resume_is_a_note_unless_a_resume_mends_nothing(made):
    made.event(Event("stagnation", "m", "warning"), 30.0).event(Event("failed", "failed at update 9", "error"), 30.0)
    made.event(Event("damaged_checkpoint", "u9", "warning"), 30.0)
    made.event(Event("observer_failed", "no room", "error"), 30.0).event(Event("resumed", "m"), 20.0)
    failed = about(made, "observer_failed, once, before it was last resumed: no room")
    assert (failed.severity, failed.action) == ("note", "none is needed, unless it comes again")
    assert about(made, "stagnation, once, before it was last resumed").severity == "note"
    assert about(made, "failed, once, before it was last resumed: failed at update 9").severity == "note"
    assert about(made, "damaged_checkpoint").severity == "warning"


def test_a_hint_says_its_grounds_and_its_action_apart(made):
    finding = about(made.event(hint(20)), "hint kl-large")
    assert finding.severity == "warning" and finding.action == "lower --x: or y"
    assert finding.sentence == "hint kl-large, once at update 20: updates move the policy by 0.2"
    assert about(made.event(hint(30)), "hint").sentence.startswith("hint kl-large, 2 times, last at update 30: ")


def test_a_hint_that_was_not_given_again_though_it_could_have_been_is_over(made):
    made.event(hint(20), 700.0).updates(250)
    assert about(made, "hint kl-large").severity == "warning"
    made.updates(251)
    finding = about(made, "hint kl-large")
    assert finding.severity == "note" and finding.sentence.startswith("hint kl-large, once at update 20, not since: ")


def test_a_hint_of_a_fast_run_is_not_over_before_its_ten_minutes_are(made):
    made.event(hint(20), 600.0).updates(2000)
    assert about(made, "hint kl-large").severity == "warning"


def test_who_reached_the_goal_needs_no_hints(made):
    made.event(hint(29)).status("finished", goal_reached=True)
    assert about(made, "hint kl-large").severity == "note" and found_in(made)[0].sentence == "nothing looks wrong"


def test_lost_workers_are_left_to_those_who_say_it_better(made):
    made.event(Event("worker_replaced", "worker 0 died", "warning"))
    assert about(made, "worker_replaced") is None
