import gzip
import hashlib
import io
import os
import re

import pytest

from respawn.errors import RunFolderError
from respawn.runs import kept_rows, rotation
from respawn.runs.kept_rows import RowsLetGo, archive_of, archive_problems, check_kept
from respawn.runs.rotation import prune, set_aside


@pytest.fixture
def path(tmp_path):
    return tmp_path / "updates.jsonl"


def known(content: bytes, archive: int = 0):
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "archive": archive}


def test_rows_that_are_still_there_are_whatever_came_after(path):
    path.write_bytes(b"one\ntwo\n")
    state = known(b"one\n")
    before = path.read_bytes(), os.listdir(path.parent)
    check_kept(path, state)
    assert (path.read_bytes(), os.listdir(path.parent)) == before
    set_aside(path)
    path.write_bytes(b"three\n")
    assert archive_of(path, state) == 1
    check_kept(path, state)
    check_kept(path, known(b"three\n", archive=1))


def test_a_stream_of_which_nothing_is_known_may_be_missing(path):
    check_kept(path, {"bytes": 0, "sha256": "", "archive": 0})
    with pytest.raises(RunFolderError, match=r"updates\.jsonl is missing; put it back"):
        check_kept(path, known(b"one\n"))


@pytest.mark.parametrize(
    ("content", "match"),
    [(b"one", "should hold at least the 4 bytes"), (b"0ne\ntwo\n", "was changed: its first 4 bytes")],
)
def test_rows_that_were_changed_or_cut_are_noticed(path, content, match):
    path.write_bytes(content)
    with pytest.raises(RunFolderError, match=match):
        check_kept(path, known(b"one\n"))


def test_a_damaged_archive_is_a_sentence(path):
    path.write_bytes(b"one\n" * 1000)
    set_aside(path)
    archive = path.with_name("updates.jsonl.000001.gz")
    whole = archive.read_bytes()
    for damaged in (whole[:-9], whole[:-20] + b"\xff" * 8 + whole[-12:], b"no gzip"):
        archive.write_bytes(damaged)
        with pytest.raises(RunFolderError, match=r"an archive of .*updates\.jsonl is damaged"):
            check_kept(path, known(b"one\n"))
    archive.write_bytes(gzip.compress(b"0ne\n"))
    with pytest.raises(RunFolderError, match="was changed"):
        check_kept(path, known(b"one\n"))


def test_archives_that_were_deleted_on_purpose_are_told_from_those_that_are_missing(path):
    for name in (b"one\n", b"two\n", b"three\n"):
        path.write_bytes(name)
        set_aside(path)
    path.write_bytes(b"four\n")
    prune(path, 2)
    with pytest.raises(RowsLetGo, match=r"archive 1 of .* was deleted"):
        check_kept(path, known(b"one\n"))
    with pytest.raises(RowsLetGo, match=r"archive 1 of .* was deleted"):
        check_kept(path, known(b"two\n", archive=1))  # its rows are there, and nothing whose number they go on from
    path.with_name("updates.jsonl.000002.gz").unlink()
    path.with_name("updates.jsonl.000001.gz").write_bytes(gzip.compress(b"one\n"))
    with pytest.raises(RunFolderError, match=r"000002\.gz is missing"):
        check_kept(path, known(b"two\n", archive=1))
    with pytest.raises(RunFolderError, match="archives up to number 7, but the last is 3"):
        check_kept(path, known(b"two\n", archive=7))


def test_a_file_that_becomes_an_archive_while_it_is_looked_at_is_found_again(path, monkeypatch):
    path.write_bytes(b"one\n")
    original, rotated = kept_rows.checked, []

    def rotating(stream, file, state):
        if not rotated:
            rotated.append(set_aside(path))
            path.write_bytes(b"2\n")
            with path.open("rb") as newer:
                return original(stream, newer, state)
        return original(stream, file, state)

    monkeypatch.setattr(kept_rows, "checked", rotating)
    check_kept(path, known(b"one\n"))
    assert rotated == [1]


@pytest.fixture
def archives(path):
    """A stream with four archives."""
    for number in range(1, 5):
        path.write_bytes(b"one\n" * 1000 * number)
        set_aside(path)
    return [path.with_name(f"updates.jsonl.{number:06d}.gz") for number in range(1, 5)]


def test_archives_that_are_whole_have_no_problems(path, archives):
    assert archive_problems(path) == [] and archive_problems(path.with_name("none.jsonl")) == []
    archives[0].unlink()  # on purpose
    archives[1].with_suffix("").write_bytes(gzip.decompress(archives[1].read_bytes()))  # killed while it was compressed
    archives[1].unlink()
    assert archive_problems(path) == []


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda archive: archive.unlink(), r"updates\.jsonl\.000002\.gz is missing; put it back"),
        (lambda archive: archive.write_bytes(b"garbage"), r"archive 2 of .*updates\.jsonl is damaged \(Not a gzipped"),
        (lambda archive: archive.write_bytes(archive.read_bytes()[:-9]), r"archive 2 of .*updates\.jsonl is damaged"),
        (lambda archive: archive.write_bytes(b""), r"archive 2 of .*updates\.jsonl is empty"),
        (
            lambda archive: archive.write_bytes(archive.read_bytes()[:-8] + bytes(4) + archive.read_bytes()[-4:]),
            r"archive 2 of .*updates\.jsonl is damaged \(CRC check failed",
        ),
    ],
)
def test_each_archive_is_read_to_its_end_whatever_is_wrong_with_others(path, archives, damage, problem):
    damage(archives[1])
    damage(archives[2])
    first, second = archive_problems(path)
    assert re.search(problem, first) and re.search(problem.replace("2", "3"), second)


def test_a_disk_that_cannot_read_an_archive_is_a_problem_and_archives_let_go_meanwhile_are_none(
    path, archives, monkeypatch
):
    class Failing(io.BytesIO):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(kept_rows, "open_archive", lambda path, number: Failing())
    assert len(archive_problems(path)) == 4 and "Input/output error" in archive_problems(path)[0]
    original = rotation.open_archive

    def letting_go(path, number):
        prune(path, 1)
        return original(path, number)

    monkeypatch.setattr(kept_rows, "open_archive", letting_go)
    assert archive_problems(path) == []
