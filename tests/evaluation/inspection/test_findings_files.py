"""What is said of files that are broken, missing, or too old."""

import shutil
from dataclasses import replace

import pytest

from hand_made import CONFIG, HandMade, healthy
from inspecting import ANEW, RESUME, about, found_in, offering_resume
from respawn.checkpoints.manifest import file_sha256
from respawn.checkpoints.store import read_manifest
from respawn.contracts.records import Event
from respawn.evaluation.inspection.findings import NOTHING

BACK = f"move {{}} in checkpoints/ away; then: {RESUME}, which goes back to u00000030"
"""What is offered where the newest checkpoint knows of rows that are gone."""


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
    assert finding.severity == "bad" and finding.action == "put the file back from a copy"
    assert finding.sentence.endswith(", so resuming would be refused")
    made.folder.updates.write_bytes(b"".join(lines))
    made.updates(1).checkpoint(31)
    made.folder.updates.write_bytes(b"".join(lines))
    finding = about(made, "should hold at least")
    assert finding.action == f"put the file back from a copy; or {BACK.format('u00000031')}"


def test_all_that_is_in_the_way_back_is_named(made):
    whole = made.folder.updates.read_bytes()
    made.updates(1).checkpoint(31)
    made.folder.updates.write_bytes(whole)
    path = made.folder.checkpoints / "u00000030"
    (path / "manifest.json").write_text(replace(read_manifest(path), schema_version=99).to_json())
    finding = about(made, "should hold at least")
    away = "move u00000030, u00000031 in checkpoints/ away"
    assert finding.action.endswith(f"; or {away}; then: {RESUME}, which goes back to u00000020")


def _cut(made):
    made.folder.updates.write_bytes(b"".join(made.folder.updates.read_bytes().splitlines(keepends=True)[:12]))


def _let_go(made):
    made.folder.updates.rename(made.folder.updates.with_name("updates.jsonl.000002"))


def _all_damaged(made):
    for path in made.folder.checkpoints.iterdir():
        (path / "weights.json").write_text("")


def _all_gone(made):
    shutil.rmtree(made.folder.checkpoints)


def _meta_damaged(made):
    made.folder.meta.write_text("{")


@pytest.mark.parametrize("damage", [_cut, _let_go, _all_damaged, _all_gone, _meta_damaged])
@pytest.mark.parametrize("status", ["running", "failed", "stopped"])
def test_where_resuming_would_be_refused_nothing_advises_it(made, damage, status):
    made.status(status, cause="it broke").event(Event("observer_failed", "observer updates failed", "error"))
    made.resources(7200.0, open_files=20.0).resources(10.0, open_files=90.0)
    assert len(offering_resume(found_in(made))) == 3
    damage(made)
    found = found_in(made)
    assert offering_resume(found) == [] and found[0].severity == "bad"
    assert not [finding for finding in found if "will be made again" in finding.sentence]


def test_what_forbids_a_resume_stands_first_with_all_that_can_be_done(made):
    whole = made.folder.updates.read_bytes()
    made.updates(1).checkpoint(31)
    made.folder.updates.write_bytes(whole)
    made.status("running")
    first, second = found_in(made, ANEW)[:2]
    assert "should hold at least" in first.sentence and "the process is gone" in second.sentence
    assert first.action.split("; or ") == [
        "put the file back from a copy",
        BACK.format("u00000031"),
        f"begin a new run with its weights: {ANEW}",
    ]


def test_rows_that_were_let_go_come_with_the_weights_that_are_left(made):
    _let_go(made)
    finding = found_in(made, ANEW)[0]
    assert "was deleted, as observers.retain-archives asks" in finding.sentence
    assert finding.action == f"put the file back from a copy; or begin a new run with its weights: {ANEW}"


def test_settings_that_were_edited_are_told_as_a_resume_would(made):
    assert found_in(made, config_sha256="") == [NOTHING]
    (finding,) = found_in(made, config_sha256="edited")
    assert finding.severity == "bad"
    assert finding.sentence.startswith("checkpoint u00000030: it was made with other settings than config.json holds")
    assert finding.action.startswith("put the run's own config.json (or checkpoint) back from a copy")
    assert offering_resume(found_in(made.status("running"), config_sha256="edited")) == []


def test_settings_that_cannot_be_used_are_told_once(made):
    problem = "config.json cannot be used (there is no setting x; did you mean y?); restore it from a copy"
    (finding,) = found_in(made, settings_problem=problem)
    assert finding.sentence == "config.json cannot be used (there is no setting x; did you mean y?)"
    assert finding.severity == "bad" and finding.action == "restore it from a copy"
    assert offering_resume(found_in(made.status("running"), settings_problem=problem)) == []


def test_parts_that_say_no_state_are_told(made):
    path = made.folder.checkpoints / "u00000030"
    (path / "weights.json").write_text("[]")
    manifest = read_manifest(path)
    files = {name: file_sha256(path / name) for name in manifest.files}
    (path / "manifest.json").write_text(replace(manifest, files=files).to_json())
    finding = about(made, "checkpoint u00000030: weights.json should hold an object")
    assert finding.severity == "bad" and finding.action == (
        f"put it back from a copy; or move u00000030 in checkpoints/ away; then: {RESUME}, which goes back to u00000020"
    )


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


@pytest.mark.parametrize(("ago", "is_late"), [(5.0, False), (601.0, True)])
def test_a_run_that_was_just_resumed_has_time_to_save(tmp_path, ago, is_late):
    made = HandMade(tmp_path / "run").status("running").updates(3).beat(1.0)
    made.checkpoint(3, 7 * 86400.0)
    made.event(Event("resumed", "resumed from u00000003"), ago)
    with made.folder.lock():
        finding = about(made, "the newest checkpoint is 7 days old")
    assert (finding is not None) is is_late


def test_a_run_that_ended_or_saves_by_updates_is_not_late(tmp_path):
    made = HandMade(tmp_path / "run").status("finished").updates(3)
    made.checkpoint(3, 10**6)
    assert about(made, "the newest checkpoint is") is None
    by_updates = HandMade(tmp_path / "other", {**CONFIG, "checkpoints": {"every_seconds": 0.0}}).status("running")
    by_updates.updates(3).beat(1.0).checkpoint(3, 10**6)
    with by_updates.folder.lock():
        assert about(by_updates, "the newest checkpoint is") is None
