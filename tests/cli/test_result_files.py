import os

import pytest

from respawn.cli.result_files import check_result_file, run_around, write_result
from respawn.errors import ConfigError
from respawn.runs.layout import create

META = {"id": "1", "name": "pole", "created": "now"}


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        check_result_file("--csv", path)
    return str(caught.value)


def test_folders_and_what_is_no_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path, why in (
        (tmp_path, "is a folder"),
        ("pipe", "is no file"),
        ("link", "is no file"),
        ("/dev/full", "is no"),
    ):
        path = tmp_path / path
        assert refusal(path).startswith(f"--csv wants a file for the results, and {path} {why}")
    check_result_file("--csv", None)


def test_where_nothing_can_be_written_it_is_refused_before_it_is_wanted(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.csv", tmp_path / "file" / "b" / "a.csv"):
        assert refusal(path).startswith(f"--csv wants a file for the results, and {path} cannot be written (")
    check_result_file("--csv", tmp_path / "new" / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_run_says_of_itself_is_not_replaced(tmp_path):
    folder = create(tmp_path / "runs", "pole", META, {})
    assert refusal(folder.meta) == (
        f"--csv wants a file for the results, and {folder.meta} is a file of the run pole; name another"
    )
    (folder.checkpoints / "part.json").touch()
    assert "is a file of the run pole" in refusal(folder.checkpoints / "part.json")
    mine = folder.path / "mine.csv"
    for _ in range(2):  # a file of one's own may be put there, and be replaced
        check_result_file("--csv", mine)
        write_result(mine, "a\n")


def test_the_run_around_a_place(tmp_path):
    folder = create(tmp_path / "runs", "pole", META, {})
    assert run_around(folder.path) == run_around(folder.checkpoints / "u1" / "x") == folder
    (tmp_path / "link").symlink_to(folder.checkpoints)
    assert run_around(tmp_path / "link") == folder
    assert run_around(folder.path.parent) is None


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    check_result_file("--csv", tmp_path / "link.csv")
    write_result(tmp_path / "link.csv", "a\n")
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "real.csv").read_text() == "a\n"
