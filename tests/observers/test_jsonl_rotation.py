import gzip
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from killing import Killed, killed_before_change
from respawn.contracts.records import Event, UpdateReport
from respawn.errors import RunFolderError
from respawn.observers.jsonl import JsonlStream
from respawn.runs import rotation
from respawn.runs.kept_rows import RowsLetGo, check_kept
from respawn.runs.layout import RunFolder
from respawn.runs.reader import last_row, read_events, read_updates
from respawn.runs.rotation import archive_numbers
from respawn.runs.rows import to_line, to_row


def report(update: int) -> UpdateReport:
    return UpdateReport(update, 10, 10, 1, {"loss/policy": 0.125})


ROWS_A_FILE = 4
ROTATE_BYTES = ROWS_A_FILE * len(to_line(to_row(report(99))))


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def stream_of(folder: RunFolder, retain_archives: int = 0) -> JsonlStream:
    return JsonlStream(
        folder.updates,
        UpdateReport,
        truncate_on_restore=True,
        rotate_bytes=ROTATE_BYTES,
        retain_archives=retain_archives,
    )


def write(stream: JsonlStream, first: int, last: int) -> None:
    for update in range(first, last + 1):
        stream.receive(report(update))


def read(folder: RunFolder) -> list[int]:
    return [row.update for row in read_updates(folder)]


def content(folder: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


def test_no_file_becomes_larger_and_no_row_is_lost(folder):
    stream = stream_of(folder)
    write(stream, 11, 30)
    assert folder.updates.stat().st_size <= ROTATE_BYTES
    assert archive_numbers(folder.updates) == [1, 2, 3, 4]
    assert read(folder) == list(range(11, 31)) and last_row(folder.updates)["update"] == 30
    stream.close()


def test_a_row_that_is_larger_than_a_file_may_be_has_one_of_its_own(folder):
    stream = JsonlStream(folder.updates, UpdateReport, truncate_on_restore=True, rotate_bytes=10)
    write(stream, 1, 3)
    stream.close()
    assert archive_numbers(folder.updates) == [1, 2] and read(folder) == [1, 2, 3]


def test_events_rotate_and_stay_history(folder):
    for round_ in range(2):
        stream = JsonlStream(folder.events, Event, truncate_on_restore=False, rotate_bytes=300)
        stream.restore({"bytes": 0, "sha256": "", "archive": 0})
        for number in range(5):
            stream.receive(Event("k", f"{round_}-{number}"))
        stream.close()
    told = [timed.event.message for timed in read_events(folder)]
    assert told == [f"{round_}-{number}" for round_ in range(2) for number in range(5)]
    assert archive_numbers(folder.events)


@pytest.mark.parametrize("saved_at", range(0, 21))
def test_restoring_goes_back_to_any_row_in_whichever_file_it_is(folder, saved_at):
    stream = stream_of(folder)
    write(stream, 1, saved_at)
    state = stream.state()
    write(stream, saved_at + 1, 20)
    stream.close()

    resumed = stream_of(folder)
    resumed.restore(state)
    assert read(folder) == list(range(1, saved_at + 1))
    write(resumed, saved_at + 1, 25)
    assert read(folder) == list(range(1, 26))
    again = resumed.state()
    resumed.close()
    stream_of(folder).restore(again)
    assert read(folder) == list(range(1, 26))


def test_a_checkpoint_from_before_there_were_archives_goes_back_to_the_first_one(folder):
    stream = stream_of(folder)
    write(stream, 1, 2)
    state = stream.state()
    del state["archive"]
    write(stream, 3, 20)
    stream.close()
    stream_of(folder).restore(state)
    assert read(folder) == [1, 2] and archive_numbers(folder.updates) == []


def _recompressed(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"decisions": 10', b'"decisions": 90')))


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda folder: _recompressed(folder.path / "updates.jsonl.000002.gz"), "was changed"),
        (lambda folder: (folder.path / "updates.jsonl.000002.gz").unlink(), r"000002\.gz is missing"),
        (
            lambda folder: [path.unlink() for path in folder.path.glob("*.gz")],
            "should have archives up to number 1, but the last is 0",
        ),
    ],
)
def test_restoring_that_must_be_refused_leaves_everything_as_it_was(folder, damage, match):
    stream = stream_of(folder)
    write(stream, 1, 6)
    state = stream.state()
    write(stream, 7, 20)
    stream.close()
    damage(folder)
    before = content(folder)
    for _ in range(2):
        stream = stream_of(folder)
        with pytest.raises(RunFolderError, match=match):
            stream.restore(state)
        stream.close()
        assert content(folder) == before


def test_going_back_to_rows_that_were_let_go_is_refused_and_changes_nothing(folder):
    stream = stream_of(folder)
    write(stream, 1, 3)
    state = stream.state()
    write(stream, 4, 20)
    stream.close()
    (folder.path / "updates.jsonl.000001.gz").unlink()
    before = content(folder)
    with pytest.raises(RowsLetGo, match=r"archive 1 of .*updates\.jsonl was deleted, as observers"):
        stream_of(folder).restore(state)
    assert content(folder) == before


def test_an_archive_that_is_shorter_than_the_checkpoint_says_is_refused(folder):
    stream = stream_of(folder)
    write(stream, 1, 3)
    state = stream.state()
    write(stream, 4, 8)
    stream.close()
    archive = folder.path / "updates.jsonl.000001.gz"
    archive.write_bytes(gzip.compress(to_line(to_row(report(1)))))
    before = content(folder)
    with pytest.raises(RunFolderError, match="should hold at least"):
        stream_of(folder).restore(state)
    assert content(folder) == before


@pytest.mark.parametrize("change", range(0, 40))
def test_killed_anywhere_while_rotating_or_restoring_no_row_is_lost_or_doubled(folder, change):
    stream = stream_of(folder)
    write(stream, 1, 6)
    state = stream.state()
    stream.close()

    with suppress(Killed), killed_before_change(change):
        stream = stream_of(folder)
        stream.restore(state)
        write(stream, 7, 19)  # rotates three times
        stream = stream_of(folder)
        stream.restore(state)
    seen = read(folder)
    assert seen == list(range(1, len(seen) + 1)) and len(seen) >= 6

    resumed = stream_of(folder)
    resumed.restore(state)
    write(resumed, 7, 12)
    resumed.close()
    assert read(folder) == list(range(1, 13))
    assert not [path for path in folder.path.iterdir() if path.name.startswith(".")]


def test_a_torn_last_line_behind_archives_is_dropped(folder):
    stream = stream_of(folder)
    write(stream, 1, 6)
    stream.close()
    with folder.updates.open("ab") as file:
        file.write(b'{"row": "upd')
    assert read(folder) == list(range(1, 7))
    stream = stream_of(folder)
    write(stream, 7, 20)
    stream.close()
    assert read(folder) == list(range(1, 21))


def test_what_a_killed_process_left_uncompressed_is_compressed(folder):
    stream = stream_of(folder)
    write(stream, 1, 4)
    stream.close()
    folder.updates.rename(folder.path / "updates.jsonl.000001")
    (folder.path / ".updates.jsonl.000001.gz.123.tmp").write_bytes(b"half")
    assert read(folder) == [1, 2, 3, 4]
    stream = stream_of(folder)
    write(stream, 5, 5)
    stream.close()
    assert sorted(content(folder)) == ["updates.jsonl", "updates.jsonl.000001.gz"]
    assert read(folder) == [1, 2, 3, 4, 5]


def test_only_so_many_archives_are_kept(folder):
    stream = stream_of(folder, retain_archives=2)
    for first in range(1, 41, 4):
        write(stream, first, first + 3)
        stream.state()
    assert len(archive_numbers(folder.updates)) == 3  # two, and one that going back to the checkpoint before takes
    assert read(folder) == list(range(25, 41))
    stream.close()


def test_fewer_are_kept_from_the_next_checkpoint_on(folder):
    """Who resumes with fewer, because the disk is nearly full, need not wait until the file is full again."""
    stream = stream_of(folder)
    write(stream, 1, 30)
    state = [stream.state(), stream.state()][-1]
    stream.close()
    resumed = stream_of(folder, retain_archives=1)
    resumed.restore(state)
    before = archive_numbers(folder.updates)
    write(resumed, 31, 31)
    resumed.state()
    assert len(before) > 4 and archive_numbers(folder.updates) == before[-1:]
    check_kept(folder.updates, state)
    resumed.close()


@pytest.mark.parametrize("fails", ["_compress", "fsync_directory"])
def test_a_file_that_could_not_be_set_aside_is_once_there_is_room(folder, monkeypatch, fails):
    stream = stream_of(folder)
    write(stream, 11, 14)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(rotation, fails, full)
        with pytest.raises(OSError, match="No space"):
            write(stream, 15, 15)
        assert not stream.is_closed
    write(stream, 15, 20)
    state = stream.state()
    stream.close()
    assert read(folder) == list(range(11, 21)) and state["archive"] == 2
    assert sorted(content(folder)) == ["updates.jsonl", "updates.jsonl.000001.gz", "updates.jsonl.000002.gz"]


def test_a_file_that_cannot_be_opened_again_is_with_the_next_row(folder, monkeypatch):
    stream = stream_of(folder)
    write(stream, 11, 14)

    def no_handle_left(self: JsonlStream) -> None:
        raise RunFolderError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(JsonlStream, "_open", no_handle_left)
        with pytest.raises(RunFolderError, match="too many"):
            write(stream, 15, 15)
    assert not stream.is_closed and stream.state()["bytes"] == 0
    write(stream, 15, 16)
    stream.close()
    assert read(folder) == list(range(11, 17)) and stream.is_closed


def test_archives_that_cannot_be_deleted_harm_no_row(folder, monkeypatch):
    stream = stream_of(folder, retain_archives=1)

    def busy(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(rotation, "_remove", busy)
        write(stream, 11, 30)
        assert stream.state()["archive"] == 4
    assert len(archive_numbers(folder.updates)) == 4
    stream.state()
    assert archive_numbers(folder.updates) == [4]
    stream.close()


def test_what_a_checkpoint_needs_is_not_deleted(folder):
    stream = stream_of(folder, retain_archives=1)
    write(stream, 1, 10)
    state = stream.state()
    write(stream, 11, 30)
    stream.close()
    resumed = stream_of(folder, retain_archives=1)
    resumed.restore(state)
    write(resumed, 11, 30)
    resumed.close()
    assert read(folder)[-20:] == list(range(11, 31))
    assert set(read(folder)) == set(range(min(read(folder)), 31))


@pytest.mark.parametrize("is_left", [False, True])
def test_after_a_resume_the_checkpoint_before_is_protected_as_if_the_run_had_never_been_left(folder, is_left):
    stream = stream_of(folder, retain_archives=1)
    write(stream, 11, 20)
    older = stream.state()
    write(stream, 21, 30)
    newest = stream.state()
    if is_left:
        stream.close()
        stream = stream_of(folder, retain_archives=1)
        stream.restore(newest)
    write(stream, 31, 60)
    assert archive_numbers(folder.updates) == list(range(2, 13))  # of what came before the older one, the last
    check_kept(folder.updates, older)
    stream.state()  # from here on the older one is the third, and its rows may go
    write(stream, 61, 70)
    with pytest.raises(RowsLetGo):
        check_kept(folder.updates, older)
    check_kept(folder.updates, newest)
    stream.close()


def test_a_checkpoint_that_is_made_twice_at_one_place_leaves_the_one_before_protected(folder):
    stream = stream_of(folder, retain_archives=1)
    write(stream, 11, 20)
    older = stream.state()
    write(stream, 21, 30)
    newest = stream.state()
    assert stream.state() == newest
    write(stream, 31, 60)
    check_kept(folder.updates, older)
    stream.close()
    again = stream_of(folder, retain_archives=1)
    again.restore(newest)  # whoever goes on from there is at that place too
    assert again.state() == newest
    write(again, 31, 60)
    check_kept(folder.updates, older)
    again.close()


def test_a_checkpoint_of_an_older_version_protects_itself(folder):
    stream = stream_of(folder, retain_archives=1)
    write(stream, 11, 20)
    state = stream.state()
    stream.close()
    del state["needed_after"]
    resumed = stream_of(folder, retain_archives=1)
    resumed.restore(state)
    write(resumed, 21, 60)
    check_kept(folder.updates, state)
    resumed.close()


def test_many_threads_write_and_one_reads_and_every_row_is_there_once(folder):
    stream = stream_of(folder)

    def writing(lane: int) -> None:
        for number in range(50):
            stream.receive(UpdateReport(number, lane, 10, 1, {"loss/policy": 0.125}))

    threads = [threading.Thread(target=writing, args=(lane,)) for lane in range(4)]
    for thread in threads:
        thread.start()
    lengths = []
    while any(thread.is_alive() for thread in threads):
        rows = [(row.decisions, row.update) for row in read_updates(folder)]
        assert len(set(rows)) == len(rows)
        lengths.append(len(rows))
    assert lengths == sorted(lengths)
    stream.close()
    rows = [(row.decisions, row.update) for row in read_updates(folder)]
    assert sorted(rows) == [(lane, number) for lane in range(4) for number in range(50)]
    for lane in range(4):
        assert [number for of, number in rows if of == lane] == list(range(50))
