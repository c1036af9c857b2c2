import gzip
import os

import pytest

from killing import Killed, killed_before_change
from respawn.errors import RunFolderError
from respawn.runs.reader import last_row, read_rows
from respawn.runs.rotation import (
    ArchiveMissing,
    archive_numbers,
    bring_back,
    finish_compressing,
    open_archive,
    prune,
    set_aside,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "updates.jsonl"


def write(path, first, last):
    with path.open("ab") as file:
        file.writelines(b'{"n": %d}\n' % number for number in range(first, last + 1))


def numbers(path):
    return [row["n"] for _, row in read_rows(path)]


def names(path):
    return sorted(os.listdir(path.parent))


def three_archives(path):
    for first in (1, 11, 21):
        write(path, first, first + 9)
        set_aside(path)
    write(path, 31, 35)


def test_a_file_that_is_set_aside_is_compressed_under_a_number_and_read_before_the_file(path):
    write(path, 1, 3)
    assert set_aside(path) == 1
    assert names(path) == ["updates.jsonl.000001.gz"]
    assert gzip.decompress((path.parent / "updates.jsonl.000001.gz").read_bytes()) == b'{"n": 1}\n{"n": 2}\n{"n": 3}\n'
    assert numbers(path) == [1, 2, 3] and last_row(path) == {"n": 3}
    write(path, 4, 5)
    assert numbers(path) == [1, 2, 3, 4, 5]
    assert set_aside(path) == 2 and archive_numbers(path) == [1, 2]


def test_archives_of_another_stream_and_other_files_are_not_meant(path):
    for name in ("updates.jsonl.1.gz", "updates.jsonl.000001.gz.bak", "xupdates.jsonl.000001", ".updates.jsonl.000001"):
        (path.parent / name).write_bytes(b"")
    assert archive_numbers(path) == []
    assert archive_numbers(path.parent / "nowhere" / "updates.jsonl") == []


def test_numbers_go_on_where_old_archives_were_deleted(path):
    three_archives(path)
    prune(path, 1)
    assert archive_numbers(path) == [3] and numbers(path) == list(range(21, 36))
    assert set_aside(path) == 4


@pytest.mark.parametrize(
    ("keep", "before", "left"),
    [(2, None, [2, 3]), (5, None, [1, 2, 3]), (0, None, [3]), (1, 2, [2, 3]), (1, 1, [1, 2, 3])],
)
def test_pruning_leaves_the_newest_and_what_is_protected(path, keep, before, left):
    three_archives(path)
    prune(path, keep, before=before)
    assert archive_numbers(path) == left


def test_bringing_back_forgets_what_came_after(path):
    three_archives(path)
    bring_back(path, 2)
    assert names(path) == ["updates.jsonl", "updates.jsonl.000001.gz"]
    assert numbers(path) == list(range(1, 21))


def test_an_archive_that_is_not_there_is_named(path):
    with pytest.raises(ArchiveMissing, match=r"updates\.jsonl\.000007\.gz is missing; put it back"):
        open_archive(path, 7)


def test_an_archive_that_is_no_file_is_named(path):
    (path.parent / "updates.jsonl.000001.gz").mkdir()
    with pytest.raises(RunFolderError, match=r"updates\.jsonl\.000001\.gz cannot be read \(Is a directory\)"):
        open_archive(path, 1)


def test_a_damaged_archive_is_told_of(path):
    three_archives(path)
    archive = path.parent / "updates.jsonl.000002.gz"
    archive.write_bytes(archive.read_bytes()[:-12])
    with pytest.raises(RunFolderError, match=r"an archive of .*updates\.jsonl is damaged"):
        numbers(path)


@pytest.mark.parametrize("change", range(8))
def test_killed_while_setting_aside_every_row_is_there_once(path, change):
    write(path, 1, 10)
    set_aside(path)
    write(path, 11, 20)
    finished = False
    with killed_before_change(change) as made:
        try:
            set_aside(path)
            finished = True
        except Killed:
            pass
    assert finished == (change >= 6), made  # if it takes more changes, more places to be killed at are to be tried
    assert numbers(path) == list(range(1, 21)) and last_row(path) == {"n": 20}
    finish_compressing(path)
    if change == 0:
        set_aside(path)  # nothing had happened yet
    assert names(path) == ["updates.jsonl.000001.gz", "updates.jsonl.000002.gz"]
    write(path, 21, 22)
    assert numbers(path) == list(range(1, 23))


@pytest.mark.parametrize("change", range(14))
def test_killed_while_bringing_back_the_stream_only_ends_earlier_and_can_be_brought_back_again(path, change):
    three_archives(path)
    write(path, 36, 40)
    finished = False
    with killed_before_change(change):
        try:
            bring_back(path, 1)
            finished = True
        except Killed:
            pass
    left = numbers(path)
    assert left == list(range(1, len(left) + 1)) and len(left) in (10, 20, 30, 40)
    if not archive_numbers(path):
        assert finished or left == list(range(1, 11))
    else:
        assert not finished
        bring_back(path, 1)
    finish_compressing(path)
    assert numbers(path) == list(range(1, 11))
    assert names(path) == ["updates.jsonl"]
