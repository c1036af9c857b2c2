"""What events come to: by kind, with the newest message, and what was before the last resume told apart."""

import json
import os

from respawn.contracts.records import Event
from respawn.evaluation.inspection.happenings import HINT, Resumed, find_evidence, sort_events
from respawn.runs.layout import RunFolder
from respawn.runs.reader import TimedEvent


def at(time, kind, level="info", message="m", **facts):
    return TimedEvent(f"2026-11-18T10:00:{time:02d}.000+00:00", Event(kind, message, level, facts))


def hint(time, rule, update):
    return at(time, "hint", "warning", f"{rule} {update}: do it", rule=rule, update=update)


def test_events_are_grouped_the_worst_first_and_the_newest_before_the_older():
    found = sort_events(
        [
            at(1, "slow_step", "warning", "first"),
            at(2, "observer_failed", "error", "disk\nfull"),
            hint(3, "kl-large", 20),
            at(4, "slow_step", "warning", "second"),
            at(5, "clock_jumped", "warning"),
            hint(6, "no-progress", 30),
            hint(7, "kl-large", 40),
            at(8, "forward_action", "info"),
        ]
    )
    assert [(group.kind, group.level, group.count) for group in found.groups] == [
        ("observer_failed", "error", 1),
        ("clock_jumped", "warning", 1),
        ("slow_step", "warning", 2),
        ("hint kl-large", HINT, 2),
        ("hint no-progress", HINT, 1),
    ]
    slow = found.of_kind("slow_step")
    assert (slow.message, slow.first_time[17:19], slow.last_time[17:19]) == ("second", "01", "04")
    assert found.groups[0].message == "disk full" and found.of_kind("hint kl-large").facts["update"] == 40
    assert found.of_kind("forward_action") is None


def test_what_came_before_the_last_resume_is_past():
    found = sort_events(
        [
            at(1, "failed", "error"),
            at(2, "resumed", update=7),
            at(3, "worker_replaced", "warning"),
            at(4, "resumed", message="no checkpoint yet"),
            at(5, "clock_jumped", "warning"),
        ]
    )
    assert found.resumed == (Resumed(at(2, "x").time, 7), Resumed(at(4, "x").time, None))
    assert [group.kind for group in found.groups if found.is_past(group)] == ["failed", "worker_replaced"]


def test_places_tell_what_is_past_where_the_clock_was_set_back():
    found = sort_events(
        [
            at(30, "failed", "error"),
            at(40, "resumed", update=7),
            at(5, "clock_jumped", "warning"),
            at(6, "failed", "error"),
            at(7, "slow_step", "warning"),
        ]
    )
    assert found.clock_went_back and not any(found.is_past(group) for group in found.groups)
    assert [group.kind for group in found.groups] == ["failed", "slow_step", "clock_jumped"]
    again = sort_events([at(40, "resumed"), at(5, "clock_jumped", "warning"), at(6, "resumed")])
    assert not again.clock_went_back and again.is_past(again.groups[0])


def test_in_a_run_that_was_never_resumed_nothing_is_past():
    found = sort_events([at(1, "clock_jumped", "warning")])
    assert not found.is_past(found.groups[0])


def test_scripts_are_counted_by_what_they_are_for():
    found = sort_events([at(1, "script_begins", reason="sequence"), *(at(2, "script_begins", reason="bootstrap"),) * 2])
    assert found.scripts == {"sequence": 1, "bootstrap": 2}


def test_evidence_is_what_is_there_and_not_empty_the_newest_first(tmp_path):
    folder = RunFolder(tmp_path)
    assert find_evidence(folder).traces == () and find_evidence(folder).fault_sentence == ""
    folder.traces.mkdir()
    for age, name in enumerate(["new.txt", "old.txt", "empty.txt"]):
        (folder.traces / name).write_text("" if name == "empty.txt" else "stack")
        os.utime(folder.traces / name, (1000 - age, 1000 - age))
    for age, name in enumerate(["u2", "u1", ".writing-u3"]):
        (folder.faults / name).mkdir(parents=True)
        os.utime(folder.faults / name, (1000 - age, 1000 - age))
    (folder.faults / "u2/facts.json").write_text(json.dumps({"sentence": "a loss is nan"}))
    os.utime(folder.faults / "u2", (1000, 1000))
    folder.failure.write_text("Traceback")
    found = find_evidence(folder)
    assert [path.rpartition("/")[2] for path in found.traces] == ["new.txt", "old.txt"]
    assert [path.rpartition("/")[2] for path in found.faults] == ["u2", "u1"]
    assert found.fault_sentence == "a loss is nan" and found.failure == str(folder.failure)


def test_a_fault_that_says_nothing_is_called_by_its_name(tmp_path):
    folder = RunFolder(tmp_path)
    (folder.faults / "u00000007").mkdir(parents=True)
    assert find_evidence(folder).fault_sentence == "u00000007"
