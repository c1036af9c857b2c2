import errno
import os
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest
import torch

from killing import Killed, killed_before_change
from respawn.checkpoints import checkpointer as module
from respawn.checkpoints import store
from respawn.checkpoints.checkpointer import Checkpointer, put_back
from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.store import (
    Identity,
    check_identity,
    find_best,
    find_newest,
    read_part,
    restore,
    saved,
    verify,
)
from respawn.contracts.clock import Clock
from respawn.errors import CheckpointError, CheckpointWriteError

IDENTITY = Identity("settings", "a world")


class Part:
    """Remembers one number and three tensors."""

    def __init__(self, number=0):
        self.number = number

    def state(self):
        return {"number": self.number, "tensors": [torch.full((3,), float(self.number))] * 3}

    def restore(self, state):
        assert torch.equal(state["tensors"][2], torch.full((3,), float(state["number"])))
        self.number = state["number"]


class Weights:
    def state(self):
        return {"w": torch.ones(2)}

    def restore(self, state):
        pass


def parts(number=0):
    return {"weights": Weights(), "a": Part(number), "b": Part(10 * number)}


def make(tmp_path, identity=IDENTITY, **settings):
    return Checkpointer(tmp_path / "checkpoints", CheckpointsConfig(**settings), identity)


def save(checkpointer, updates, score=None):
    metrics = {} if score is None else {"evaluation/return_mean": score}
    return checkpointer.save(parts(updates), Clock(updates=updates, decisions=10 * updates), metrics)


def names(tmp_path):
    return sorted(path.name for path in (tmp_path / "checkpoints").iterdir())


def test_what_is_saved_is_found_and_restored(tmp_path):
    path = save(make(tmp_path), 3, 1.5)
    found = find_newest(tmp_path / "checkpoints")
    assert found.path == path and found.passed_over == ()
    assert (found.manifest.updates, found.manifest.decisions) == (3, 30)
    assert found.manifest.metrics == {"evaluation/return_mean": 1.5}
    fresh = parts()
    restore(found, fresh)
    assert (fresh["a"].number, fresh["b"].number) == (3, 30)
    assert names(tmp_path) == ["u00000003"]


def test_where_there_is_nothing_nothing_is_found(tmp_path):
    assert find_newest(tmp_path / "checkpoints") is None
    assert find_best(tmp_path / "checkpoints", CheckpointsConfig()) is None
    assert saved(tmp_path / "nowhere") == []


def test_the_best_is_found_and_else_the_newest(tmp_path):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)
    save(checkpointer, 2)
    assert find_best(tmp_path / "checkpoints", CheckpointsConfig()).path.name == "u00000002"
    save(checkpointer, 3, 5.0)
    save(checkpointer, 4, 2.0)
    assert find_best(tmp_path / "checkpoints", CheckpointsConfig()).path.name == "u00000003"
    assert find_newest(tmp_path / "checkpoints", only="u00000002").path.name == "u00000002"


def test_what_is_passed_over_for_the_best_is_told(tmp_path):
    checkpointer, folder, config = make(tmp_path, keep_last=9), tmp_path / "checkpoints", CheckpointsConfig()
    for updates, score in ((1, 1.0), (2, 3.0), (3, 9.0), (4, 3.0), (5, 2.0)):
        save(checkpointer, updates, score)
    (folder / "u00000003" / "a.json").write_text("{")
    (folder / "u00000001" / "a.json").write_text("{")  # it is worse, so nobody passes over it
    found = find_best(folder, config)
    told = "u00000003: a.json does not match its SHA-256 in the manifest"
    assert found.path.name == "u00000002" and found.passed_over == (told,)
    (folder / "u00000005" / "manifest.json").write_text("{")  # how good it was, nobody knows
    found = find_best(folder, config)
    assert found.path.name == "u00000002" and [each[:9] for each in found.passed_over] == ["u00000005", "u00000003"]


def test_what_is_passed_over_where_none_that_was_evaluated_is_whole_is_told_once(tmp_path):
    checkpointer, folder = make(tmp_path), tmp_path / "checkpoints"
    save(checkpointer, 1, 9.0)
    for updates in (2, 3):
        save(checkpointer, updates)
    for updates in (1, 3):
        (folder / f"u{updates:08d}" / "a.json").unlink()
    found = find_best(folder, CheckpointsConfig())
    assert found.path.name == "u00000002"
    assert found.passed_over == ("u00000003: a.json is missing", "u00000001: a.json is missing")


@pytest.mark.parametrize("find", [find_newest, lambda folder: find_best(folder, CheckpointsConfig())])
def test_what_a_run_that_goes_on_deletes_meanwhile_is_no_damage(tmp_path, monkeypatch, find):
    checkpointer, made = make(tmp_path), iter((2, 3))
    save(checkpointer, 1, 5.0)
    verify = store.verify

    def replacing(path):
        if (updates := next(made, None)) is not None:
            shutil.rmtree(path)
            save(checkpointer, updates)
        return verify(path)

    monkeypatch.setattr(store, "verify", replacing)
    found = find(tmp_path / "checkpoints")
    assert found.path.name == "u00000003" and found.passed_over == ()


def test_retention_deletes_what_no_rule_keeps_and_never_what_is_damaged(tmp_path):
    checkpointer = make(tmp_path, keep_last=2)
    save(checkpointer, 1, 9.0)
    for updates in (2, 3):
        save(checkpointer, updates)
    (tmp_path / "checkpoints" / "u00000002" / "manifest.json").write_text("{")
    for updates in (4, 5, 6):
        save(checkpointer, updates)
    assert names(tmp_path) == ["u00000001", "u00000002", "u00000005", "u00000006"]


def test_a_damaged_checkpoint_is_set_aside_beside_earlier_ones(tmp_path):
    checkpointer = make(tmp_path)
    for text in ("first", "second", "third"):
        path = save(checkpointer, 1)
        (path / "a.json").write_text(text)
        checkpointer.set_aside("u00000001")
    assert names(tmp_path) == ["damaged-u00000001", "damaged-u00000001-2", "damaged-u00000001-3"]
    texts = [(tmp_path / "checkpoints" / name / "a.json").read_text() for name in names(tmp_path)]
    assert texts == ["first", "second", "third"]
    assert find_newest(tmp_path / "checkpoints") is None


def test_saving_an_update_again_replaces_it(tmp_path):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)
    checkpointer.save(parts(7), Clock(updates=1), {})
    found = find_newest(tmp_path / "checkpoints")
    assert read_part(found.path, found.manifest, "a")["number"] == 7
    assert names(tmp_path) == ["u00000001"]


def test_killed_anywhere_while_saving_an_update_again_one_of_the_two_is_left(tmp_path):
    number, folder = 0, tmp_path / "checkpoints"
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        checkpointer = make(tmp_path, keep_last=1, keep_best=0)
        save(checkpointer, 1)
        with killed_before_change(number) as made, suppress(Killed):
            checkpointer.save(parts(7), Clock(updates=1), {})
        assert find_newest(folder) is not None and len(saved(folder)) == 1, made  # whoever only looks finds it too
        assert find_newest(folder, only="u00000001") is not None
        put_back(folder)  # as whoever takes the run up does first
        found = find_newest(folder)
        assert found is not None and read_part(found.path, found.manifest, "a")["number"] in (1, 7), made
        make(tmp_path).clean()
        assert names(tmp_path) == ["u00000001"] and not list(folder.glob(".*"))
        if len(made) < number:
            break
        number += 1
    assert made.count("rename") == 2


@pytest.mark.parametrize("fails_at", [1, 2])
def test_interrupted_between_two_names_the_one_that_was_there_has_its_own_again(tmp_path, monkeypatch, fails_at):
    checkpointer, real, calls = make(tmp_path), os.rename, []
    save(checkpointer, 1)

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == fails_at:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", interrupted)
        checkpointer.save(parts(7), Clock(updates=1), {})
    found = find_newest(tmp_path / "checkpoints")
    assert read_part(found.path, found.manifest, "a")["number"] == 1
    assert names(tmp_path) == ["u00000001"]


def test_leftovers_are_cleaned_and_nothing_else(tmp_path):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)
    for name in (".writing-u00000002-99", ".deleting-u00000000", ".superseded-u00000001", "damaged-u00000003", "notes"):
        (tmp_path / "checkpoints" / name).mkdir()
    (tmp_path / "checkpoints" / ".writing-u00000002-99" / "a.json").write_text("{")
    checkpointer.clean()
    assert names(tmp_path) == ["damaged-u00000003", "notes", "u00000001"]


@pytest.mark.parametrize("identity", [Identity("settings", "elsewhere"), Identity("others", "a world")])
def test_checkpoints_of_something_else_are_refused(identity, tmp_path):
    save(make(tmp_path), 1)
    found = find_newest(tmp_path / "checkpoints")
    check_identity(found, make(tmp_path).identity)
    with pytest.raises(CheckpointError, match=r"another world|other settings"):
        check_identity(found, identity)


def test_a_part_that_is_not_there_is_named_before_anything_is_touched(tmp_path):
    save(make(tmp_path), 1)
    found = find_newest(tmp_path / "checkpoints")
    fresh = {**parts(), "c": Part()}
    with pytest.raises(CheckpointError, match="has no part 'c'"):
        restore(found, fresh)
    assert fresh["a"].number == 0


def test_a_file_that_cannot_be_read_is_damage(tmp_path, monkeypatch):
    path = save(make(tmp_path), 1)

    def broken(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("respawn.checkpoints.store.file_sha256", broken)
    with pytest.raises(CheckpointError, match=r"cannot be read .*Input/output error"):
        verify(path)


def test_an_error_of_ours_while_saving_leaves_nothing_half_written(tmp_path):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)
    bad = Part()
    bad.state = lambda: {"thing": object()}
    with pytest.raises(TypeError, match="at 'thing' there is a object"):
        checkpointer.save({**parts(), "bad": bad}, Clock(updates=2), {})
    assert names(tmp_path) == ["u00000001"]


def fail_at_sync(monkeypatch, number):
    """Let the n-th fsync say that the disk is full; returns the list that grows with every call."""
    calls, real = [], os.fsync

    def counting(descriptor):
        calls.append(descriptor)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(module.os, "fsync", counting)
    return calls


def contents(tmp_path):
    return {path: path.read_bytes() for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()}


def test_a_full_disk_at_any_point_of_a_write(tmp_path, monkeypatch):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)
    with monkeypatch.context() as patch:
        calls = fail_at_sync(patch, 0)
        save(checkpointer, 2)
        num_syncs = len(calls)
    assert num_syncs >= 8
    before = contents(tmp_path)
    for number in range(1, num_syncs):  # the last one comes after the rename: by then the checkpoint is there
        with monkeypatch.context() as patch:
            fail_at_sync(patch, number)
            with pytest.raises(CheckpointWriteError, match=r"update 3 .*No space left.*newest whole one is u00000002"):
                save(checkpointer, 3)
        assert contents(tmp_path) == before
        assert names(tmp_path) == ["u00000001", "u00000002"]
    save(checkpointer, 3)
    assert find_newest(tmp_path / "checkpoints").path.name == "u00000003"


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EDQUOT, "make room"),
        (errno.EROFS, "see that the folder may be written to"),
        (errno.EACCES, "see that the folder may be written to"),
        (errno.EIO, "see to the disk"),
    ],
)
def test_what_to_do_depends_on_what_the_disk_says(number, remedy, tmp_path, monkeypatch):
    checkpointer = make(tmp_path)
    save(checkpointer, 1)

    def refuse(path, content):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "_write", refuse)
    with pytest.raises(CheckpointWriteError) as caught:
        save(checkpointer, 2)
    expected = f"({os.strerror(number)}); the newest whole one is u00000001: {remedy}, then resume the run"
    assert expected in str(caught.value)
    assert names(tmp_path) == ["u00000001"]


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None, reason="needs the right to mount"
)
def test_a_file_system_that_is_really_full(tmp_path):
    place = tmp_path / "checkpoints"
    place.mkdir()
    mounting = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounting.returncode != 0:
        pytest.skip(f"no right to mount here: {mounting.stderr.strip()}")
    try:
        checkpointer = make(tmp_path)
        save(checkpointer, 1)
        before = contents(tmp_path)
        free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
        ballast = place / "ballast"
        ballast.write_bytes(bytes(free - 3 * 4096))
        with pytest.raises(CheckpointWriteError, match="No space left on device"):
            save(checkpointer, 2)
        ballast.unlink()
        assert contents(tmp_path) == before
        save(checkpointer, 2)
        assert names(tmp_path) == ["u00000001", "u00000002"]
    finally:
        subprocess.run(["umount", str(place)], check=True)
