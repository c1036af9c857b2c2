import hashlib
import os
import signal
import subprocess
import sys

import pytest

from respawn.contracts.records import Episode, EpisodeReport, Event, UpdateReport
from respawn.errors import RunFolderError
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder
from respawn.runs.reader import last_row, read_events, read_updates
from respawn.runs.rows import to_line, to_row


def report(update: int) -> UpdateReport:
    return UpdateReport(update, update * 10, update * 10, update, {"loss/policy": update / 7})


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def updates_stream(folder):
    return JsonlStream(folder.updates, UpdateReport, truncate_on_restore=True)


def test_only_its_own_records_are_written_and_at_once(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    stream.receive(EpisodeReport(1, Episode(0, 1.0, 2, "terminated")))
    stream.receive(Event("k", "m"))
    stream.receive(report(2))
    assert list(read_updates(folder)) == [report(1), report(2)]  # though the stream is still open
    stream.close()
    stream.close()


def test_restore_drops_what_came_after_the_checkpoint(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    state = stream.state()
    stream.receive(report(2))
    stream.close()

    resumed = updates_stream(folder)
    resumed.restore(state)
    assert list(read_updates(folder)) == [report(1)]
    resumed.receive(report(2))
    resumed.receive(report(3))
    resumed.close()
    assert list(read_updates(folder)) == [report(1), report(2), report(3)]


def test_restore_of_a_live_stream_goes_on_at_the_right_place(folder):
    stream = updates_stream(folder)
    state = stream.state()
    stream.receive(report(5))
    stream.restore(state)
    stream.receive(report(1))
    assert list(read_updates(folder)) == [report(1)]
    stream.close()


def test_asking_for_state_changes_nothing(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    content = folder.updates.read_bytes()
    expected = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "archive": 0, "needed_after": [0]}
    assert stream.state() == stream.state() == expected
    assert folder.updates.read_bytes() == content
    stream.close()


def test_a_file_shorter_than_the_checkpoint_says_is_refused(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    state = stream.state()
    stream.close()
    os.truncate(folder.updates, 10)
    with pytest.raises(RunFolderError, match=r"updates\.jsonl should hold at least"):
        updates_stream(folder).restore(state)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_flipped_bit_in_a_row_the_checkpoint_counts_on_is_noticed_and_nothing_is_thrown_away(folder, row):
    stream = updates_stream(folder)
    for update in range(1, 4):
        stream.receive(report(update))
    state = stream.state()
    stream.receive(report(4))
    stream.close()
    sound = folder.updates.read_bytes()
    rows = sound.splitlines(keepends=True)
    damaged = bytearray(sound)
    damaged[sum(map(len, rows[:row])) + 1] ^= 1  # the quote before 'update': no JSON any more
    folder.updates.write_bytes(damaged)
    for _ in range(2):
        stream = updates_stream(folder)
        with pytest.raises(
            RunFolderError, match=r"updates\.jsonl was changed: .* SHA-256 .*; put the file back from a"
        ):
            stream.restore(state)
        stream.close()
        assert folder.updates.read_bytes() == damaged
    folder.updates.write_bytes(sound)
    updates_stream(folder).restore(state)
    assert folder.updates.read_bytes() == b"".join(rows[:3])


def test_a_digit_that_changed_is_noticed_too(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    state = stream.state()
    stream.close()
    folder.updates.write_bytes(folder.updates.read_bytes().replace(b'"decisions": 10', b'"decisions": 90'))
    with pytest.raises(RunFolderError, match="was changed"):
        updates_stream(folder).restore(state)


def test_damage_after_the_checkpoint_does_no_harm(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    state = stream.state()
    stream.close()
    with folder.updates.open("ab") as file:
        file.write(b"\0\0\n[]\n{")
    resumed = updates_stream(folder)
    resumed.restore(state)
    resumed.receive(report(2))
    again = resumed.state()
    resumed.close()
    assert list(read_updates(folder)) == [report(1), report(2)]
    updates_stream(folder).restore(again)  # the checksum went on where it was


def test_the_beginning_needs_no_checksum(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    stream.restore({"bytes": 0})
    assert folder.updates.read_bytes() == b""
    stream.close()


@pytest.mark.parametrize("tail", [b'{"update": 2, "dec', b"damage\n"])
def test_opening_and_closing_changes_nothing(folder, tail):
    content = to_line(to_row(report(1))) + tail
    folder.updates.write_bytes(content)
    updates_stream(folder).close()
    assert folder.updates.read_bytes() == content


def test_a_folder_in_the_place_of_the_file_is_named(folder):
    folder.updates.mkdir()
    with pytest.raises(
        RunFolderError, match=r"updates\.jsonl cannot be opened \(Is a directory\); it should be a file"
    ):
        updates_stream(folder)


def test_the_first_row_drops_a_torn_last_line(folder):
    stream = updates_stream(folder)
    stream.receive(report(1))
    stream.close()
    with folder.updates.open("ab") as file:
        file.write(b'{"update": 2, "dec')
    stream = updates_stream(folder)
    stream.receive(report(2))
    stream.close()
    assert list(read_updates(folder)) == [report(1), report(2)]


def test_a_row_that_could_be_written_by_half_is_dropped_by_the_next(folder, monkeypatch):
    stream = updates_stream(folder)
    stream.receive(report(1))
    write = JsonlStream._write

    def half(self, line):
        write(self, line[: len(line) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(JsonlStream, "_write", half)
        with pytest.raises(OSError, match="No space left"):
            stream.receive(report(2))
    stream.receive(report(3))
    state = stream.state()
    stream.close()
    assert list(read_updates(folder)) == [report(1), report(3)]
    assert state["sha256"] == hashlib.sha256(folder.updates.read_bytes()).hexdigest()


def test_events_are_history_and_know_their_time(folder):
    stream = JsonlStream(folder.events, Event, truncate_on_restore=False)
    state = stream.state()
    stream.receive(Event("k", "first"))
    stream.close()
    stream = JsonlStream(folder.events, Event, truncate_on_restore=False)
    stream.restore(state)
    stream.receive(Event("k", "second", "warning"))
    stream.close()
    events = list(read_events(folder))
    assert [timed.event.message for timed in events] == ["first", "second"]
    assert all(timed.time.endswith("+00:00") for timed in events)
    assert events[0].time <= events[1].time


def test_events_are_kept_whatever_they_are_but_a_torn_one_is_dropped(folder):
    stream = JsonlStream(folder.events, Event, truncate_on_restore=False)
    stream.receive(Event("k", "first"))
    state = stream.state()
    stream.close()
    before = b"damage\n" + folder.events.read_bytes()
    folder.events.write_bytes(before + b'{"time": "2026')
    stream = JsonlStream(folder.events, Event, truncate_on_restore=False)
    stream.restore(state)
    stream.close()
    assert folder.events.read_bytes() == before


def test_a_killed_process_loses_no_row(folder):
    script = (
        "import os, signal, sys; from pathlib import Path; from respawn.contracts.records import UpdateReport\n"
        "from respawn.observers.jsonl import JsonlStream\n"
        "stream = JsonlStream(Path(sys.argv[1]), UpdateReport, truncate_on_restore=True)\n"
        "for n in range(1, 101): stream.receive(UpdateReport(n, n, n, n, {}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder.updates)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert last_row(folder.updates)["update"] == 100


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_error(tmp_path):
    path = tmp_path / "updates.jsonl"
    stream = JsonlStream(path, UpdateReport, truncate_on_restore=True)
    stream.receive(report(1))
    with open("/dev/full", "wb", buffering=0) as full:
        os.dup2(full.fileno(), stream._file.fileno())
    with pytest.raises(OSError, match="No space left"):
        stream.receive(report(2))
    stream.close()
