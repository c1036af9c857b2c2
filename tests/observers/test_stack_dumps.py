import subprocess
import sys
import threading
import time

import pytest

from respawn.observers.stack_dumps import MOST_DUMPS, LastResort, dump_stacks, try_to_dump
from respawn.observers.thread_phases import Doing


def test_all_threads_are_in_it_with_what_they_do(tmp_path):
    inside, go_on = threading.Event(), threading.Event()

    def deep_in_the_world() -> None:
        inside.set()
        go_on.wait(30)

    thread = threading.Thread(target=deep_in_the_world, name="collector")
    thread.start()
    inside.wait(30)
    doing = [Doing("collector", "world", 301.26, 5.0)]
    path = dump_stacks(tmp_path / "traces", "stalled", "nothing has moved for 301 s", doing)
    go_on.set()
    thread.join()
    text = path.read_text()
    assert text.startswith("nothing has moved for 301 s\ncollector: world for 301.3 s\n\n")
    assert "thread collector (" in text and "in deep_in_the_world" in text and "go_on.wait(30)" in text
    assert f"thread {threading.current_thread().name} (" in text
    assert "in test_all_threads_are_in_it_with_what_they_do" in text
    assert path.parent == tmp_path / "traces" and path.name.startswith("stalled-") and path.suffix == ".txt"


def test_only_so_many_of_a_kind_are_kept(tmp_path):
    (tmp_path / "stalled-20260101T000000.000000Z.txt").write_text("another kind")
    for number in range(MOST_DUMPS + 5):
        (tmp_path / f"slow-steps-20260101T0000{number:02}.000000Z.txt").write_text("old")
    newest = dump_stacks(tmp_path, "slow-steps", "slow", [])
    left = sorted(path.name for path in tmp_path.glob("slow-steps-*"))
    assert len(left) == MOST_DUMPS and left[-1] == newest.name and left[0].startswith("slow-steps-20260101T000006")
    assert len(list(tmp_path.glob("stalled-*"))) == 1


def test_a_new_one_is_kept_also_where_the_clock_was_set_back(tmp_path):
    for number in range(MOST_DUMPS):
        (tmp_path / f"stalled-29990101T0000{number:02}.000000Z.txt").write_text("later")
    newest = dump_stacks(tmp_path, "stalled", "it stands", [])
    assert newest.exists() and len(list(tmp_path.iterdir())) == MOST_DUMPS


def test_whether_it_was_kept_can_be_told(tmp_path):
    kept = try_to_dump(tmp_path / "traces", "stalled", "it stands", [])
    (path,) = (tmp_path / "traces").iterdir()
    assert kept.said == f"; the stacks of all threads are in traces/{path.name}" and kept.facts == {"trace": str(path)}
    (tmp_path / "file").write_text("")
    not_kept = try_to_dump(tmp_path / "file", "stalled", "it stands", [])
    assert not_kept.said.startswith("; the stacks of all threads could not be kept (") and not_kept.facts == {}


class TestLastResort:
    def test_dumps_when_it_is_not_armed_again_in_time(self, tmp_path):
        path = tmp_path / "traces" / "hung-1.txt"
        last_resort = LastResort(path)
        last_resort.arm(0.05)
        deadline = time.monotonic() + 30
        while not path.stat().st_size and time.monotonic() < deadline:
            pass  # asked in the middle of the dump, most of the time
        last_resort._seconds = 600.0
        assert last_resort.fired() == path
        whole = path.read_text()
        assert last_resort.fired() is None  # told once
        last_resort.disarm()
        assert path.read_text() == whole
        assert "test_dumps_when_it_is_not_armed_again_in_time" in path.read_text()

    def test_leaves_nothing_behind_where_nothing_was_wrong(self, tmp_path):
        last_resort = LastResort(tmp_path / "traces" / "hung-1.txt")
        assert last_resort.fired() is None
        for _ in range(3):
            last_resort.arm(600.0)
            assert last_resort.fired() is None
        assert [path.name for path in (tmp_path / "traces").iterdir()] == ["hung-1.txt"]
        last_resort.disarm()
        last_resort.disarm()
        assert list(tmp_path.iterdir()) == []

    def test_other_traces_stay_and_what_a_killed_process_left_empty_goes(self, tmp_path):
        traces = tmp_path / "traces"
        traces.mkdir()
        for name, text in (("hung-1.txt", ""), ("hung-2.txt", "Timeout!"), ("stalled-x.txt", "")):
            (traces / name).write_text(text)
        last_resort = LastResort(traces / "hung-3.txt")
        last_resort.arm(600.0)
        last_resort.disarm()
        assert sorted(path.name for path in traces.iterdir()) == ["hung-2.txt", "stalled-x.txt"]

    @pytest.mark.parametrize("ends_process", [False, True])
    def test_works_where_native_code_never_lets_go_of_the_interpreter(self, tmp_path, ends_process):
        # PyDLL keeps the lock that all threads of Python need, so that no thread of Python runs meanwhile.
        program = (
            "import ctypes, pathlib, sys\n"
            "from respawn.observers.stack_dumps import LastResort\n"
            "native = ctypes.PyDLL(None)\n"
            f"last_resort = LastResort(pathlib.Path({str(tmp_path / 'hung-1.txt')!r}), ends_process={ends_process})\n"
            "def hold():\n"
            "    last_resort.arm(0.5)\n"
            "    native.usleep(3_000_000)\n"
            "hold()\n"
            "sys.exit(7)\n"
        )
        ended = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
        assert ended.returncode == (1 if ends_process else 7)
        assert "in hold" in (tmp_path / "hung-1.txt").read_text()
