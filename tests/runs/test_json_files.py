import errno
import json
import os

import pytest

from respawn.errors import RunFolderError
from respawn.runs import json_files
from respawn.runs.json_files import read_json_object, write_json_atomically, write_json_even_without_room


def test_atomic_write_leaves_the_old_file_when_it_fails(tmp_path):
    path = tmp_path / "a.json"
    write_json_atomically(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json_atomically(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_reading_says_what_is_wrong(tmp_path):
    path = tmp_path / "meta.json"
    with pytest.raises(RunFolderError, match="missing"):
        read_json_object(path)
    path.write_text("{")
    with pytest.raises(RunFolderError, match="should hold JSON"):
        read_json_object(path)
    path.write_text("[]")
    with pytest.raises(RunFolderError, match="JSON object"):
        read_json_object(path)


def refuse_new_files(monkeypatch, number):
    """No file can be put in another's place, as on a disk that is full or may not be written to."""

    def refused(descriptor):
        raise OSError(number, os.strerror(number))

    first_only = iter([refused])
    monkeypatch.setattr(json_files.os, "fsync", lambda descriptor: next(first_only, lambda _: None)(descriptor))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("new", [{"b": 2}, {"status": "a much longer one than it was"}])
def test_a_full_disk_has_room_for_what_is_there(number, new, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_json_even_without_room(path, {"status": "running"})
    refuse_new_files(monkeypatch, number)
    write_json_even_without_room(path, new)
    assert json.loads(path.read_text()) == new
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(("number", "exists"), [(errno.EROFS, True), (errno.EIO, True), (errno.ENOSPC, False)])
def test_other_refusals_are_the_callers(number, exists, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    if exists:
        write_json_atomically(path, {"a": 1})
    refuse_new_files(monkeypatch, number)
    with pytest.raises(OSError, match=os.strerror(number)):
        write_json_even_without_room(path, {"b": 2})
    assert not exists or json.loads(path.read_text()) == {"a": 1}
