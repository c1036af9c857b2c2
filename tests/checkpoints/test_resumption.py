import json
import shutil
from dataclasses import replace

import pytest
from three_checkpoints import damage_file, damage_manifest, examined, other_schema, path_of

from respawn.checkpoints.resumption import check_nothing_is_lost, what_resuming_does, what_resuming_run_does
from respawn.checkpoints.store import find_newest
from respawn.errors import CheckpointAccessError, CheckpointError
from respawn.runs.layout import RunFolder


def test_resuming_goes_on_from_the_newest(folder, around):
    assert what_resuming_does(examined(folder, around)).path == path_of(folder, 3)
    assert what_resuming_does([]).refusal == ""


@pytest.mark.parametrize("damages", [{}, {3: damage_file}, {3: damage_manifest, 2: damage_file}])
def test_resuming_passes_over_what_is_damaged_as_it_is_said(folder, around, damages):
    for updates, damage in damages.items():
        damage(path_of(folder, updates))
    doing, found = what_resuming_does(examined(folder, around)), find_newest(folder / "checkpoints")
    assert doing.path == found.path and doing.refusal == ""
    assert list(doing.passed_over) == [reason.partition(":")[0] for reason in found.passed_over]


def test_resuming_is_refused_where_all_are_damaged(folder, around):
    for updates in (1, 2, 3):
        damage_file(path_of(folder, updates))
    doing = what_resuming_does(examined(folder, around))
    assert doing.path is None and doing.refusal == "every checkpoint is damaged" and len(doing.passed_over) == 3
    with pytest.raises(CheckpointError, match="every checkpoint"):
        find_newest(folder / "checkpoints")


def test_resuming_does_not_go_back_past_what_only_cannot_be_read_here(folder, around):
    other_schema(path_of(folder, 2))
    damage_file(path_of(folder, 3))
    found = examined(folder, around)
    assert found[1].verdicts["files"].state == "unreadable" and not found[1].is_whole
    doing = what_resuming_does(found)
    assert doing.path is None and doing.refusal.startswith("u00000002: it is of schema 99")
    with pytest.raises(CheckpointAccessError):
        find_newest(folder / "checkpoints")


def test_rows_of_another_run_are_a_refusal_and_no_reason_to_go_back(folder, around):
    (folder / "updates.jsonl").write_bytes(b"")
    doing = what_resuming_does(examined(folder, around))
    assert doing.path is None and doing.passed_over == () and doing.refusal.startswith("u00000003: ")


def test_rows_that_were_let_go_are_a_refusal(folder, around):
    (folder / "updates.jsonl").rename(folder / "updates.jsonl.000002")
    doing = what_resuming_does(examined(folder, around))
    assert doing.path is None and "was deleted, as observers.retain-archives asks" in doing.refusal


@pytest.fixture
def run(folder):
    """The same as a run's folder."""
    (folder / "config.json").write_text("{}")
    (folder / "meta.json").write_text(json.dumps({"id": "1", "name": "run", "created": "today"}))
    return RunFolder(folder)


def test_of_a_run_its_own_files_decide_first(run, around):
    found = examined(run.path, around)
    assert what_resuming_run_does(run, around, found) == what_resuming_does(found)
    odd = replace(around, settings_problem="config.json is odd")
    assert what_resuming_run_does(run, odd, examined(run.path, odd)).refusal == "config.json is odd"
    run.meta.write_text("{")
    doing = what_resuming_run_does(run, odd, found)
    assert doing.path is None and "meta.json should hold JSON" in doing.refusal


def test_a_run_that_lost_its_checkpoints_is_not_begun_over_its_rows(run, around):
    shutil.rmtree(run.checkpoints)
    assert "has made updates, but" in what_resuming_run_does(run, around, []).refusal
    with pytest.raises(CheckpointError, match="put the checkpoints back, or start a new run"):
        check_nothing_is_lost(run)
    run.updates.write_text("broken\n")
    assert "line 1 should be a JSON object" in what_resuming_run_does(run, around, []).refusal
    run.updates.unlink()
    check_nothing_is_lost(run)
    assert what_resuming_run_does(run, around, []).refusal == ""


def test_a_run_that_was_never_saved_may_lack_what_it_begins_with(run, around):
    shutil.rmtree(run.checkpoints)
    run.updates.unlink()
    assert what_resuming_run_does(run, replace(around, beginning_problem="its source is gone"), []).refusal == (
        "its source is gone"
    )
