import errno
import os

import pytest

from killing import Killed, killed_before_change
from respawn.runs.whole_files import write_text, written_whole


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nobody_sees_a_half(tmp_path):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")
    with written_whole(path) as file:
        file.write(b"ne")
        file.flush()
        assert path.read_bytes() == b"old"
        file.write(b"w")
    assert path.read_bytes() == b"new" and names(tmp_path) == ["figure.png"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, b"old"])
def test_what_fails_on_the_way_leaves_what_was_there(tmp_path, error, before):
    path = tmp_path / "figure.png"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(type(error)), written_whole(path) as file:
        file.write(b"half")
        raise error
    assert names(tmp_path) == ([] if before is None else ["figure.png"])
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "full"), "[Errno 28] full: '{path}'"),
        (OSError(errno.ENOSPC, "full", "other"), "[Errno 28] full: 'other'"),
        (OSError(errno.EIO, "odd"), "[Errno 5] odd"),  # that may be of what is read meanwhile
    ],
)
def test_what_found_no_room_is_named(tmp_path, error, said):
    path = tmp_path / "figure.png"
    with pytest.raises(OSError, match="Errno") as raised, written_whole(path):
        raise error
    assert str(raised.value) == said.format(path=path)


@pytest.mark.parametrize("change", range(4))
def test_a_kill_at_any_moment_leaves_the_old_one_or_the_new_one(tmp_path, change):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")
    killed = False
    with killed_before_change(change) as made:
        try:
            with written_whole(path) as file:
                file.write(b"new")
        except Killed:
            killed = True
    assert killed == (change < 3), made  # sync, rename, sync of the folder
    assert path.read_bytes() == (b"new" if "replace" in made else b"old")


def test_it_is_on_the_disk_before_it_takes_the_others_place(tmp_path):
    with killed_before_change(99) as made:
        write_text(tmp_path / "index.md", "text")
    assert made.index("fsync") < made.index("replace") < len(made) - 1 - made[::-1].index("fsync")


def test_two_processes_do_not_write_to_the_same_place_aside(tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    with written_whole(path) as mine:
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with written_whole(path) as theirs:
            theirs.write(b"theirs")
        mine.write(b"mine")
        assert path.read_bytes() == b"theirs"
    assert path.read_bytes() == b"mine" and names(tmp_path) == ["figure.png"]


def test_text_is_written_with_its_folder(tmp_path):
    write_text(tmp_path / "plots" / "deep" / "index.md", "Grüße\n")
    assert (tmp_path / "plots" / "deep" / "index.md").read_bytes() == "Grüße\n".encode()
    write_text(tmp_path / "plots" / "deep" / "index.md", "")
    assert (tmp_path / "plots" / "deep" / "index.md").read_bytes() == b""
