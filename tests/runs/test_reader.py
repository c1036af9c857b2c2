import gzip

import pytest

from respawn.contracts.records import Episode, EpisodeReport, EvaluationReport, Event, UpdateReport
from respawn.errors import RunFolderError
from respawn.runs import reader
from respawn.runs.layout import create
from respawn.runs.reader import (
    last_row,
    read_episodes,
    read_evaluations,
    read_events,
    read_rows,
    read_updates,
    sound_bytes,
)
from respawn.runs.rotation import archive_numbers, set_aside
from respawn.runs.rows import to_line, to_row


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "one", {}, {})


def updates(count: int, padding: int = 0) -> list[UpdateReport]:
    return [UpdateReport(n, n, n, n, {f"loss/{'x' * padding}": n / 3, "time/unix": 1.0}) for n in range(1, count + 1)]


def lines(records) -> bytes:
    return b"".join(to_line(to_row(record)) for record in records)


def test_every_stream_comes_back_typed(folder):
    episode = EpisodeReport(1, Episode(0, 1.5, 3, "time limit"))
    evaluation = EvaluationReport(2, 20, {"evaluation/return_mean": 4.0})
    event = Event("k", "m", "warning", {"a": 1})
    folder.updates.write_bytes(lines(updates(3)))
    folder.episodes.write_bytes(lines([episode]))
    folder.evaluations.write_bytes(lines([evaluation]))
    folder.events.write_bytes(to_line({"time": "2026-11-16T10:45:00+00:00", **to_row(event)}))
    assert list(read_updates(folder)) == updates(3)
    assert list(read_episodes(folder)) == [episode]
    assert list(read_evaluations(folder)) == [evaluation]
    (timed,) = read_events(folder)
    assert timed.event == event and timed.time == "2026-11-16T10:45:00+00:00"


def test_streams_not_begun_yet_are_empty(folder):
    assert list(read_updates(folder)) == [] and list(read_events(folder)) == []
    assert last_row(folder.updates) is None and sound_bytes(folder.updates) == 0


@pytest.mark.parametrize("torn", [b'{"upda', b'{"update": 9}', b"\0\0\0\0", b"\xff"])
def test_a_torn_last_line_is_passed_over(folder, torn):
    whole = lines(updates(2))
    folder.updates.write_bytes(whole + torn)
    assert list(read_updates(folder)) == updates(2)
    assert last_row(folder.updates)["update"] == 2
    assert sound_bytes(folder.updates) == len(whole)
    folder.updates.write_bytes(torn)
    assert list(read_updates(folder)) == []
    assert last_row(folder.updates) is None and sound_bytes(folder.updates) == 0


@pytest.mark.parametrize(
    "broken", [b'{"upda\n', b"\n", b"3\n", b'{"update": 1}\n', b'{"update": 1, "decisions": "x"}\n']
)
def test_a_broken_line_in_the_middle_names_file_and_line(folder, broken):
    folder.updates.write_bytes(lines(updates(2)) + broken + lines(updates(1)))
    with pytest.raises(RunFolderError, match=r"updates\.jsonl, line 3 "):
        list(read_updates(folder))


@pytest.mark.parametrize("broken", [b'{"upda\n', b"\0\0\n", b"[1]\n", b"\xff\n", b"\n"])
def test_a_broken_last_line_that_has_an_end_is_damage_and_no_torn_line(folder, broken):
    content = lines(updates(2)) + broken
    folder.updates.write_bytes(content)
    with pytest.raises(RunFolderError, match=r"updates\.jsonl, line 3 should be a JSON object; put the file back"):
        list(read_updates(folder))
    with pytest.raises(RunFolderError, match=r"the last line of .*updates\.jsonl should be a JSON object"):
        last_row(folder.updates)
    assert sound_bytes(folder.updates) == len(content)


@pytest.mark.parametrize("read", [last_row, sound_bytes, lambda path: list(read_rows(path))])
def test_a_folder_in_the_place_of_a_stream_is_named(folder, read):
    folder.updates.mkdir()
    with pytest.raises(RunFolderError, match=r"updates\.jsonl cannot be read \(Is a directory\); it should be a file"):
        read(folder.updates)


def test_a_broken_event_level_names_file_and_line(folder):
    folder.events.write_bytes(to_line({"time": "", "kind": "k", "message": "m", "level": "loud", "facts": {}}))
    with pytest.raises(RunFolderError, match=r"events\.jsonl, line 1 "):
        list(read_events(folder))


@pytest.mark.parametrize("padding", [0, 70_000])  # the longer rows are longer than what is read at a time
@pytest.mark.parametrize("torn", [b"", b'{"half'])
def test_last_row_reads_from_the_end(folder, padding, torn):
    whole = lines(updates(5, padding))
    folder.updates.write_bytes(whole + torn)
    assert last_row(folder.updates)["update"] == 5
    assert sound_bytes(folder.updates) == len(whole)


def test_last_row_does_not_read_the_whole_file(folder):
    with folder.updates.open("wb") as file:
        file.truncate(1 << 30)  # a hole: nothing on the disk, and slow to split into lines
        file.seek(0, 2)
        file.write(b"\n" + lines(updates(3)))
    assert last_row(folder.updates)["update"] == 3


@pytest.mark.parametrize("damage", [lambda whole: whole[:-9], lambda whole: b"no archive", lambda whole: whole[:12]])
def test_a_damaged_archive_that_the_last_row_is_in_is_a_sentence(folder, damage):
    archive = folder.updates.with_name("updates.jsonl.000001.gz")
    archive.write_bytes(gzip.compress(lines(updates(9))))
    assert last_row(folder.updates)["update"] == 9
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(RunFolderError, match=r"an archive of .*updates\.jsonl is damaged .*put it back from a copy"):
        last_row(folder.updates)


def test_read_rows_follows_a_file_that_grows(folder):
    folder.updates.write_bytes(lines(updates(1)))
    rows = read_rows(folder.updates)
    assert next(rows)[0] == f"{folder.updates}, line 1"
    with folder.updates.open("ab") as file:
        file.write(lines(updates(2)))
    assert [place for place, _ in rows] == [f"{folder.updates}, line {number}" for number in (2, 3)]


@pytest.mark.parametrize(("at_least", "first"), [(0, 7), (3, 7), (4, 4), (6, 4), (7, 1), (1000, 1), (None, 1)])
def test_the_oldest_files_are_left_out_where_the_others_have_enough(folder, at_least, first):
    for last in (3, 6):
        folder.updates.write_bytes(lines(updates(last)[last - 3 :]))
        set_aside(folder.updates)
    folder.updates.write_bytes(lines(updates(9)[6:]))
    assert list(read_updates(folder, at_least)) == updates(9)[first - 1 :]
    archive = folder.path / "updates.jsonl.000002.gz"
    archive.write_bytes(gzip.compress(lines(updates(6)[3:]) + b"nonsense\n"))
    if first < 7:
        with pytest.raises(RunFolderError, match=r"updates\.jsonl\.000002\.gz, line 4 should be a JSON object"):
            list(read_updates(folder, at_least))


def test_what_comes_before_the_damage_is_read_whatever_is_asked_for(folder):
    for last in (3, 6):
        folder.updates.write_bytes(lines(updates(last)[last - 3 :]))
        set_aside(folder.updates)
    archive = folder.path / "updates.jsonl.000002.gz"
    archive.write_bytes(archive.read_bytes()[:-20])
    for at_least in (None, 1000, 4):
        rows = read_updates(folder, at_least)
        assert [next(rows) for _ in range(3)] == updates(3)
        with pytest.raises(RunFolderError, match=r"an archive of .*updates\.jsonl is damaged"):
            list(rows)


def test_an_archive_that_is_let_go_of_while_lines_are_counted_is_the_end(folder, monkeypatch):
    for last in (3, 6):
        folder.updates.write_bytes(lines(updates(last)[last - 3 :]))
        set_aside(folder.updates)
    folder.updates.write_bytes(lines(updates(9)[6:]))
    real = reader.open_archive

    def let_go(path, number):
        (folder.path / "updates.jsonl.000001.gz").unlink(missing_ok=True)
        return real(path, number)

    monkeypatch.setattr(reader, "open_archive", let_go)
    assert list(read_updates(folder, 100)) == updates(9)[3:]


def test_a_file_that_is_set_aside_between_two_looks_is_read_all_the_same(folder, monkeypatch):
    folder.updates.write_bytes(lines(updates(3)))
    looks = []

    def look(path):
        found = archive_numbers(path)
        looks.append(found)
        if len(looks) == 1:  # and now, before the file is opened, it becomes an archive
            set_aside(path)
            path.write_bytes(lines(updates(5)[3:]))
        return found

    monkeypatch.setattr(reader, "archive_numbers", look)
    assert list(read_updates(folder)) == updates(5) and looks[:2] == [[], [1]]


def test_an_archive_between_others_that_is_missing_is_no_short_stream(folder):
    for number in (1, 2, 3, 4):
        folder.updates.with_name(f"updates.jsonl.{number:06d}").write_bytes(lines(updates(4)[number - 1 : number]))
    folder.updates.write_bytes(lines(updates(5)[4:]))
    assert list(read_updates(folder)) == updates(5)
    folder.updates.with_name("updates.jsonl.000001").unlink()  # the oldest may be let go of
    assert list(read_updates(folder)) == updates(5)[1:]
    folder.updates.with_name("updates.jsonl.000003").unlink()
    with pytest.raises(RunFolderError, match=r"updates\.jsonl\.000003\.gz is missing; put it back"):
        list(read_updates(folder))
