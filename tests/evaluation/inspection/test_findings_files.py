"""What is said of files that are broken, missing, or too old."""

import pytest

from hand_made import CONFIG, HandMade, healthy
from inspecting import RESUME, about, found_in


@pytest.fixture
def made(tmp_path):
    return healthy(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "content", "sentence", "action"),
    [
        ("config.json", "{", "config.json should hold JSON, but", "restore it from a copy"),
        ("meta.json", "{", "meta.json should hold JSON, but", "restore it from a copy"),
        (
            "status.json",
            "",
            "status.json should hold JSON, but",
            "delete it: whoever takes the run",
        ),
        (
            "status.json",
            '{"status": "singing"}',
            "status.json should say one of",
            "delete it: whoever takes the run up",
        ),
        ("heartbeats.jsonl", "{}\nx\n{}\n", "heartbeats.jsonl, line 1 should be one Beat", "repair it"),
        (
            "events.jsonl",
            "x\n",
            "events.jsonl, line 1 should be a JSON object",
            "put the file back from a copy, or repair",
        ),
    ],
)
def test_what_cannot_be_read_is_said_with_what_to_do(made, name, content, sentence, action):
    (made.folder.path / name).write_text(content)
    finding = next(each for each in found_in(made) if sentence in each.sentence)
    assert finding.severity == "bad" and finding.action.startswith(action)
    assert not [each for each in found_in(made) if "the process is gone" in each.sentence]


def test_a_missing_meta_is_put_back(made):
    made.folder.meta.unlink()
    assert about(made, "meta.json is missing").action == "put the file back from a copy"


def test_a_torn_last_line_is_no_damage(made):
    with made.folder.heartbeats.open("a") as file:
        file.write('{"row": "be')
    assert not [finding for finding in found_in(made) if finding.severity != "note"]


def test_rows_that_are_gone_come_with_the_way_round_them(made):
    lines = made.folder.updates.read_bytes().splitlines(keepends=True)
    made.folder.updates.write_bytes(b"".join(lines[:12]))
    finding = about(made, "should hold at least")
    assert finding.severity == "bad" and finding.action.startswith("put the file back, for the rows")
    made.folder.updates.write_bytes(b"".join(lines))
    made.updates(1).checkpoint(31)
    made.folder.updates.write_bytes(b"".join(lines))
    finding = about(made, "should hold at least")
    assert finding.action == f"put the file back from a copy; or move u00000031 in checkpoints/ away, then: {RESUME}"


def test_a_damaged_checkpoint_is_a_warning_while_another_is_whole(made):
    (made.folder.checkpoints / "u00000030/weights.json").write_text("")
    finding = about(made, "checkpoint u00000030 is damaged: weights.json")
    assert finding.severity == "warning" and "begins at u00000020" in finding.action
    (made.folder.checkpoints / "u00000020/manifest.json").unlink()
    finding = about(made, "checkpoint u00000030 is damaged")
    assert finding.severity == "bad" and finding.action.startswith("put one back from a copy")


def test_a_checkpoint_of_a_newer_version_is_not_called_damaged(made, monkeypatch):
    monkeypatch.setattr("respawn.checkpoints.manifest.SCHEMA_VERSION", 0)
    finding = about(made, "checkpoint u00000030 cannot be used: it is of schema 1")
    assert finding.severity == "bad" and finding.action == "use respawn 0.1.0"


def test_no_checkpoint_at_all(tmp_path):
    finding = about(HandMade(tmp_path / "run").status("finished").updates(3), "there is no checkpoint in")
    assert finding.severity == "bad" and "begun anew" in finding.action


@pytest.mark.parametrize(
    ("age", "longest", "is_late"), [(599.0, 1.0, False), (601.0, 1.0, True), (601.0, 200.0, False)]
)
def test_a_checkpoint_is_late_by_its_interval_and_by_how_long_updates_take(tmp_path, age, longest, is_late):
    made = HandMade(tmp_path / "run").status("running").beat(1.0)
    made.updates(3, **{"time/update_seconds": longest}).checkpoint(3, age)
    with made.folder.lock():
        finding = about(made, "the newest checkpoint is")
    assert (finding is not None) is is_late
    assert finding is None or finding.sentence.endswith("and one is due every 60 s")


def test_a_run_that_ended_or_saves_by_updates_is_not_late(tmp_path):
    made = HandMade(tmp_path / "run").status("finished").updates(3)
    made.checkpoint(3, 10**6)
    assert about(made, "the newest checkpoint is") is None
    by_updates = HandMade(tmp_path / "other", {**CONFIG, "checkpoints": {"every_seconds": 0.0}}).status("running")
    by_updates.updates(3).beat(1.0).checkpoint(3, 10**6)
    with by_updates.folder.lock():
        assert about(by_updates, "the newest checkpoint is") is None
