import errno
import json
import os
import stat
from pathlib import PurePosixPath

import pytest

from killing import Killed, killed_before_change
from reference_files import metadata, payload, write_metadata, write_payload
from respawn.checkpoints import migration as module
from respawn.checkpoints.json_text import with_member
from respawn.checkpoints.migration import Wishes, migrate

NAME = "a3c_world1_stage1_0002000.json"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "trained_models"
    folder.mkdir()
    return folder


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def only(migration):
    assert len(migration.files) == 1
    return migration.files[0]


def of(folder, data=None, beside=None, **wishes):
    """What comes of one file, and what it says then."""
    path = write_metadata(folder / NAME, metadata() if data is None else data)
    if beside is not None:
        write_payload(path.with_suffix(".pt"), beside)
    mending = only(migrate(folder, Wishes(**wishes)))
    return mending, json.loads(path.read_text())


def test_a_step_that_was_not_counted_is_computed(folder):
    before = metadata()
    mending, after = of(folder)
    assert (mending.outcome, mending.step_before, mending.step_after) == ("updated", 0, 2000 * 8 * 64)
    audit = after.pop("reconstructed_step_source")
    assert audit.pop("computed_at").endswith("+00:00")
    assert audit == {
        "method": "assumed_rollout_steps",
        "rollout_steps": 64,
        "rollout_steps_from": "assumed",
        "formula": "global_step = global_update * num_envs * rollout_steps",
        "checkpoint_global_update": None,
        "previous_global_step": 0,
    }
    assert after.pop("save_state") == before.pop("save_state") | {"global_step": 1_024_000}
    assert after == before


@pytest.mark.parametrize("wishes", [{}, {"update_if_lower": True}, {"backup": False}])
def test_the_second_time_nothing_changes(folder, wishes):
    of(folder, **wishes)
    once = content(folder)
    assert only(migrate(folder, Wishes(**wishes))).outcome == (
        "current_step>=computed" if "update_if_lower" in wishes else "already_reconstructed"
    )
    assert content(folder) == once


def test_a_dry_run_says_the_same_and_changes_nothing(folder):
    write_metadata(folder / NAME, metadata())
    before = content(folder)
    dry = only(migrate(folder, Wishes(dry_run=True)))
    assert dry.outcome == "would_update" and content(folder) == before
    assert only(migrate(folder, Wishes())).step_after == dry.step_after == 1_024_000


def test_the_first_of_all_backups_is_kept(folder):
    first = write_metadata(folder / NAME, metadata()).read_bytes()
    migrate(folder, Wishes())
    mending = only(migrate(folder, Wishes(rollout_steps=128, update_if_lower=True)))
    assert (mending.outcome, mending.step_before, mending.step_after) == ("updated", 1_024_000, 2_048_000)
    assert json.loads((folder / NAME).read_text())["reconstructed_step_source"]["previous_global_step"] == 0
    assert content(folder)[f"{NAME}.bak"] == first and set(content(folder)) == {NAME, f"{NAME}.bak"}


def test_without_backup_there_is_none(folder):
    of(folder, backup=False)
    assert set(content(folder)) == {NAME}


def test_steps_that_are_there_are_left_unless_lower_ones_are_to_be_raised(folder):
    assert of(folder, metadata(step=5))[0].outcome == "already_has_step"
    mending, after = of(folder, metadata(step=5), update_if_lower=True)
    assert mending.outcome == "updated" and after["save_state"]["global_step"] == 1_024_000
    mending, after = of(folder, metadata(step=9_000_000), update_if_lower=True)
    assert mending.outcome == "current_step>=computed" and after["save_state"]["global_step"] == 9_000_000


def test_the_update_is_read_from_the_checkpoint_where_metadata_lacks_it(folder):
    mending, after = of(folder, metadata(update=0), payload(3000))
    assert (mending.outcome, mending.step_after, mending.update_from) == ("updated", 3000 * 8 * 64, "checkpoint")
    audit = after["reconstructed_step_source"]
    assert (audit["method"], audit["checkpoint_global_update"]) == ("checkpoint_plus_rollout", 3000)
    assert after["save_state"]["global_update"] == 0


def test_steps_of_a_rollout_that_are_known_are_not_assumed(folder):
    mending, after = of(folder, None, payload(rollout={"num_steps": 128}), rollout_steps=32)
    assert (mending.step_after, mending.rollout_steps_from) == (2000 * 8 * 128, "checkpoint")
    assert after["reconstructed_step_source"]["method"] == "known_rollout_steps"
    mending, _ = of(folder, metadata() | {"rollout_steps": 16}, payload(rollout={"num_steps": 128}))
    assert (mending.step_after, mending.rollout_steps_from) == (2000 * 8 * 16, "metadata")
    (folder / "a3c_world1_stage1_0002000.pt").unlink()
    mending, _ = of(folder, rollout_steps=32)
    assert (mending.step_after, mending.rollout_steps_from) == (2000 * 8 * 32, "assumed")


def test_a_checkpoint_that_cannot_be_read_safely_is_no_help_and_no_hindrance(folder):
    odd = payload(3000) | {"config": PurePosixPath("x")}
    mending, _ = of(folder, metadata(update=0), odd)
    assert mending.outcome == "no_update_info" and "holds a pathlib.PurePosixPath" in mending.note
    mending, _ = of(folder, metadata(), odd)
    assert mending.outcome == "updated" and "holds a pathlib.PurePosixPath" in mending.note


def test_what_cannot_be_computed_is_left_and_says_why(folder):
    mending, after = of(folder, metadata(update=0))
    assert mending.outcome == "no_update_info" and after == metadata(update=0)
    assert mending.note == "a3c_world1_stage1_0002000.pt is not there to be asked"
    assert of(folder, metadata(update=0), payload(0))[0].outcome == "no_update_info"
    without = {name: value for name, value in metadata().items() if name != "vector_env"}
    assert of(folder, without)[0].outcome == "missing_num_envs"
    assert of(folder, metadata(envs=0))[0].outcome == "missing_num_envs"
    mending, _ = of(folder, without, payload(num_envs=4))
    assert (mending.outcome, mending.step_after) == ("updated", 2000 * 4 * 64)


def test_folders_below_are_looked_into_and_other_files_passed_over(folder):
    write_metadata(folder / "b" / "c" / NAME, metadata())
    write_metadata(folder / "a" / "a3c_world1_stage1_latest.json", metadata(update=8000, kind="latest"))
    write_metadata(folder / "notes.json", [1, 2])
    (folder / "a" / "broken.json").write_text("{")
    (folder / "a" / f"{NAME}.bak").write_text("{")
    write_metadata(folder / "a" / f".{NAME}", metadata())
    migration = migrate(folder, Wishes())
    assert [str(each.path.relative_to(folder)) for each in migration.files] == [
        "a/a3c_world1_stage1_latest.json",
        f"b/c/{NAME}",
    ]
    assert migration.passed_over == 2 and not migration.has_failed
    assert migration.outcomes == {"updated": 2}


def test_files_that_cannot_be_read_are_named_and_the_others_mended(folder):
    (folder / NAME).write_text('{"save_st')
    write_metadata(folder / "a3c_world1_stage1_0003000.json", metadata(update="many"))
    write_metadata(folder / "a3c_world1_stage1_0004000.json", metadata(update=4000))
    migration = migrate(folder, Wishes())
    assert [each.outcome for each in migration.files] == ["unreadable", "unreadable", "updated"]
    assert migration.has_failed and "should hold JSON" in migration.files[0].note
    assert (folder / NAME).read_text() == '{"save_st'


@pytest.mark.parametrize("syncs_before", [0, 2])
def test_a_full_disk_leaves_every_file_as_it_was(folder, monkeypatch, syncs_before):
    path = write_metadata(folder / NAME, metadata())
    before, left, sync = path.read_bytes(), iter(range(syncs_before)), os.fsync

    def full(descriptor):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    # The backup takes two, its own and its folder's; then comes the metadata itself.
    monkeypatch.setattr(os, "fsync", full)
    migration = migrate(folder, Wishes())
    monkeypatch.undo()
    mending = only(migration)
    assert mending.outcome == "not_written" and mending.note == "it could not be written (No space left on device)"
    assert migration.has_failed
    assert content(folder) == {NAME: before} | ({f"{NAME}.bak": before} if syncs_before else {})
    assert only(migrate(folder, Wishes())).outcome == "updated"


def test_killed_at_any_change_a_file_is_the_old_or_the_new_one(folder):
    backup = folder / f"{NAME}.bak"
    for number in range(20):
        path = write_metadata(folder / NAME, metadata())
        backup.unlink(missing_ok=True)
        before = path.read_bytes()
        try:
            with killed_before_change(number):
                migrate(folder, Wishes())
        except Killed:
            now = path.read_bytes()
            assert now == before or json.loads(now)["save_state"]["global_step"] == 1_024_000
            assert not backup.exists() or backup.read_bytes() == before
            if now != before:
                assert backup.exists()
        else:
            assert number == 6  # each of two files is synced, renamed, and its folder synced
            return
    raise AssertionError("it never came to its end")


def test_links_stay_links_and_files_keep_their_permissions(folder):
    path = write_metadata(folder / "z" / NAME, metadata())
    path.chmod(0o640)
    link = folder / "a3c_world1_stage1_latest.json"
    link.symlink_to(path)
    mending = only(migrate(folder, Wishes()))
    assert mending.outcome == "updated" and mending.path == link and link.is_symlink()
    assert json.loads(path.read_text())["save_state"]["global_step"] == 1_024_000
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((folder / "z" / f"{NAME}.bak").stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_looked_into_is_told(folder, monkeypatch):
    (folder / "locked").mkdir()
    write_metadata(folder / NAME, metadata())
    scan = os.scandir

    def refusing(path):
        if str(path).endswith("locked"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    migration = migrate(folder, Wishes())
    assert migration.has_failed and only(migration).outcome == "updated"
    assert migration.problems == (f"{folder / 'locked'} cannot be looked into (Permission denied)",)


def test_it_tells_how_far_it_is(folder):
    for number in range(4):
        write_metadata(folder / f"a3c_world1_stage1_{number:07d}.json", metadata())
    told = []
    migrate(folder, Wishes(dry_run=True), lambda doing, share: told.append((doing, share)))
    assert [share for _, share in told] == [0.0, 0.25, 0.5, 0.75] and told[0][0] == "a3c_world1_stage1_0000000.json"


def test_the_checkpoint_is_not_asked_where_nothing_is_to_be_computed(folder, monkeypatch):
    monkeypatch.setattr(module, "read_payload", lambda path: pytest.fail("it was asked"))
    assert of(folder, metadata(step=3), payload())[0].outcome == "already_has_step"


def test_what_was_assumed_wrongly_is_mended_once_it_is_known(folder):
    """Longer or shorter: the step that was assumed is no lower bound."""
    of(folder)
    for steps in (32, 128):
        mending = only(migrate(folder, Wishes(rollout_steps=steps)))
        assert (mending.outcome, mending.step_after) == ("updated", 2000 * 8 * steps)
        after = json.loads((folder / NAME).read_text())
        assert after["save_state"]["global_step"] == 2000 * 8 * steps
        assert after["reconstructed_step_source"]["previous_global_step"] == 0
        assert only(migrate(folder, Wishes(rollout_steps=steps))).outcome == "already_reconstructed"
    assert only(migrate(folder, Wishes())).outcome == "already_reconstructed"
    assert json.loads((folder / f"{NAME}.bak").read_text()) == metadata()


def test_what_the_other_systems_own_tool_assumed_is_mended_too(folder):
    audit = {"method": "checkpoint_plus_rollout", "rollout_steps": 64, "checkpoint_global_update": 2000}
    mending, after = of(folder, metadata(1_024_000) | {"reconstructed_step_source": audit}, rollout_steps=32)
    assert (mending.outcome, after["save_state"]["global_step"]) == ("updated", 512_000)


def test_what_is_known_is_not_assumed_again(folder):
    of(folder, metadata() | {"rollout": {"num_steps": 32}})
    assert only(migrate(folder, Wishes(rollout_steps=16))).outcome == "already_reconstructed"


def test_commas_that_lead_lines_still_do(folder):
    path = folder / NAME
    before = json.dumps(metadata(), separators=("\n, ", ": "))
    path.write_text(before)
    assert only(migrate(folder, Wishes())).outcome == "updated"
    after = path.read_text()
    assert after.startswith(before.partition('"save_state"')[0])
    after = json.loads(after)
    assert after.pop("reconstructed_step_source")["rollout_steps"] == 64
    assert after == metadata(step=2000 * 8 * 64)


@pytest.mark.parametrize("damage", [lambda text: text + "}", lambda text: text.replace("12", "13")])
def test_what_would_say_something_else_is_not_written(damage, folder, monkeypatch):
    write_metadata(folder / NAME, metadata())
    before = content(folder)
    monkeypatch.setattr(
        "respawn.checkpoints.reference_metadata.with_member",
        lambda text, *where_and_what: damage(with_member(text, *where_and_what)),
    )
    migration = migrate(folder, Wishes())
    mending = only(migration)
    assert migration.has_failed and mending.outcome == "not_written"
    assert mending.note == "it could not be written (its layout is not understood, and it would say something else)"
    assert content(folder) == before  # and there is no copy either


def test_numbers_that_are_none_are_no_hindrance(folder):
    mending, after = of(folder, metadata() | {"losses": [float("nan"), float("-inf")]})
    assert mending.outcome == "updated" and str(after["losses"]) == "[nan, -inf]"


def test_half_a_character_and_another_indent_stay(folder):
    path = folder / NAME
    path.write_bytes(
        json.dumps(metadata() | {"note": "é"}, indent=4, ensure_ascii=False).encode()[:-2]
        + b',\n    "half": "\\ud800"\n}'
    )
    assert only(migrate(folder, Wishes())).outcome == "updated"
    after = path.read_text()
    assert json.loads(after)["half"] == "\ud800" and json.loads(after)["note"] == "é"
    assert '\n    "world": 1' in after
