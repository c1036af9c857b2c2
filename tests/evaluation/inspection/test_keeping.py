"""Which checkpoints are whole, and whether the rows that they know of are there."""

import gzip
import json
import shutil

import pytest

from hand_made import NOW, HandMade
from respawn.checkpoints.manifest import Manifest
from respawn.checkpoints.verification import Surroundings
from respawn.evaluation.inspection import keeping
from respawn.runs.streams import row_streams


def look_at_checkpoints(folder, now, **around):
    return keeping.look_at_checkpoints(folder, Surroundings(streams=row_streams(folder), **around), now)


@pytest.fixture
def made(tmp_path):
    run = HandMade(tmp_path / "run").updates(3)
    run.checkpoint(1, 30.0)
    run.updates(2)
    run.checkpoint(2, 10.0)
    return run


def test_whole_ones_are_told_oldest_first_with_the_newests_age(made):
    found = look_at_checkpoints(made.folder, NOW)
    assert found.whole == ("u00000001", "u00000002") and found.damaged == {} == found.unusable
    assert (found.newest_update, found.newest_age_seconds) == (2, 10.0)
    assert found.refusal == "" and found.hurdles == {}


def test_a_flipped_bit_is_damage_and_the_one_before_is_the_newest(made):
    weights = made.folder.checkpoints / "u00000002/weights.json"
    weights.write_bytes(b"[}")
    found = look_at_checkpoints(made.folder, NOW)
    assert found.whole == ("u00000001",) and found.newest_update == 1
    assert found.damaged == {"u00000002": "weights.json does not match its SHA-256 in the manifest"}


def test_one_of_a_later_version_is_not_damaged(made):
    path = made.folder.checkpoints / "u00000002/manifest.json"
    content = {name: value for name, value in json.loads(path.read_text()).items() if name != "manifest_sha256"}
    path.write_text(Manifest(**{**content, "schema_version": 99}).to_json())
    found = look_at_checkpoints(made.folder, NOW)
    assert found.damaged == {} and found.whole == ("u00000001",)
    assert "it is of schema 99 and this program reads schema 1" in found.unusable["u00000002"]


def test_what_was_moved_out_of_the_way_and_what_was_never_finished(made):
    (made.folder.checkpoints / "damaged-u00000003").mkdir()
    (made.folder.checkpoints / ".writing-u00000004").mkdir()
    found = look_at_checkpoints(made.folder, NOW)
    assert found.set_aside == ("damaged-u00000003",) and found.half_written == (".writing-u00000004",)


def test_rows_that_are_gone_are_found_and_a_checkpoint_from_before_them(made):
    lines = made.folder.updates.read_bytes().splitlines(keepends=True)
    made.folder.updates.write_bytes(b"".join(lines[:3]))
    found = look_at_checkpoints(made.folder, NOW)
    (problem,) = found.hurdles["rows"]
    assert "should hold at least the" in problem and found.refusal == f"u00000002: {problem}"
    assert found.older_to_go_on_from == "u00000001"
    made.folder.updates.write_bytes(b"".join(lines[:2]))
    assert look_at_checkpoints(made.folder, NOW).older_to_go_on_from is None


def test_rows_that_were_changed_are_found(made):
    made.folder.updates.write_bytes(made.folder.updates.read_bytes().replace(b"0.5", b"0.6"))
    (problem,) = look_at_checkpoints(made.folder, NOW).hurdles["rows"]
    assert "was changed" in problem


def test_rows_that_were_archived_since_are_looked_for_in_the_archive(made):
    archive = made.folder.updates.with_name("updates.jsonl.000001.gz")
    archive.write_bytes(gzip.compress(made.folder.updates.read_bytes()))
    made.folder.updates.unlink()
    assert look_at_checkpoints(made.folder, NOW).hurdles == {}
    archive.write_bytes(b"no gzip")
    assert "is damaged" in look_at_checkpoints(made.folder, NOW).hurdles["rows"][0]


def test_archives_that_were_let_go_of_cannot_be_gone_back_to(made):
    for number in (1, 2):
        made.folder.updates.with_name(f"updates.jsonl.00000{number}.gz").write_bytes(gzip.compress(b"{}\n"))
    made.folder.updates.with_name("updates.jsonl.000001.gz").unlink()
    found = look_at_checkpoints(made.folder, NOW)
    assert found.damaged == {} and "was deleted, as observers.retain-archives asks" in found.refusal


def test_other_settings_stand_against_every_checkpoint(made):
    found = look_at_checkpoints(made.folder, NOW, config_sha256="edited")
    assert list(found.hurdles) == ["settings"] and found.older_to_go_on_from is None
    assert "made with other settings than config.json holds now" in found.refusal


def test_what_keeps_the_run_itself_from_being_resumed_comes_first(made):
    assert look_at_checkpoints(made.folder, NOW, settings_problem="config.json is odd").refusal == "config.json is odd"
    made.folder.meta.write_text("{")
    assert "meta.json should hold JSON" in look_at_checkpoints(made.folder, NOW).refusal


def test_without_checkpoints_a_run_can_be_begun_as_long_as_it_has_no_rows(made):
    shutil.rmtree(made.folder.checkpoints)
    assert "has made updates, but" in look_at_checkpoints(made.folder, NOW).refusal
    made.folder.updates.unlink()
    assert look_at_checkpoints(made.folder, NOW).refusal == ""


def test_a_run_without_any(tmp_path):
    run = HandMade(tmp_path / "run")
    shutil.rmtree(run.folder.checkpoints)
    found = look_at_checkpoints(run.folder, NOW)
    assert (found.whole, found.newest_update, found.newest_age_seconds, found.refusal) == ((), None, None, "")
