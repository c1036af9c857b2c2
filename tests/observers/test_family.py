import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from respawn.observers import family
from respawn.observers.family import descendants

PARENT = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import sys; print(flush=True); sys.stdin.read()'],"
    " stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
    "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read(); child.communicate()\n"
)


@pytest.fixture
def generations():
    """The numbers of a process that was started, and of one that it started."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    yield parent.pid, int(parent.stdout.readline())
    parent.communicate()


def by_psutil() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_children_and_their_children(generations):
    assert set(generations) <= set(descendants(os.getpid()))
    assert set(descendants(os.getpid())) == by_psutil()


def test_children_that_another_thread_started_count_too():
    started: list[subprocess.Popen[bytes]] = []
    go_on = threading.Event()

    def start() -> None:
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        go_on.wait(30)

    thread = threading.Thread(target=start)
    thread.start()
    while not started:
        thread.join(0.01)
    assert started[0].pid in descendants(os.getpid())
    go_on.set()
    thread.join()
    assert started[0].pid in descendants(os.getpid())  # it belongs to the process, whoever of its threads ended
    started[0].communicate(b"\n")


def test_where_the_system_does_not_say_all_processes_are_asked(generations, monkeypatch, tmp_path):
    class Without(type(Path())):
        """A Linux that was not built to say it."""

        def read_bytes(self) -> bytes:
            raise FileNotFoundError(self)

    monkeypatch.setattr(family, "Path", Without)
    assert set(descendants(os.getpid())) == by_psutil() >= set(generations)
    monkeypatch.setattr(family, "Path", lambda path: tmp_path / "nowhere")
    assert set(descendants(os.getpid())) == by_psutil() >= set(generations)


def test_a_process_that_is_not_there_has_started_none():
    assert descendants(2**30) == []
