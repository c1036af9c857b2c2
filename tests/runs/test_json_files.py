import json

import pytest

from respawn.errors import RunFolderError
from respawn.runs.json_files import read_json_object, write_json_atomically


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
