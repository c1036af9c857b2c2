import os
from functools import partial
from pathlib import Path

import psutil
import pytest

from bench_cases import Steady
from respawn.training import bench_process
from respawn.training.bench_process import CaseFailedError, CaseMissingError, CaseProcess, _sentence


def test_a_case_is_measured_in_a_process_of_its_own_and_leaves_nothing():
    with CaseProcess(partial(Steady, 7)) as process:
        process.ready()
        first, second = process.turn(), process.turn()
    assert first["decisions"] == 7 and first["pid"] == second["pid"] != os.getpid()
    assert not psutil.pid_exists(first["pid"])
    # What it put aside was in a folder of the bench's, whatever became of the process.
    assert "respawn-bench-" in first["place"] and not Path(first["place"]).exists()
    assert process.seconds > 0


@pytest.mark.parametrize(
    ("when", "what", "said"),
    [
        ("begins", "raise", "ValueError: two lines"),
        ("turns", "sentence", "it cannot be, for a reason"),
        ("turns", "die", "its process ended with exit code 3: last words"),
    ],
)
def test_one_that_fails_says_why_in_a_line(when, what, said):
    with CaseProcess(partial(Steady, **{when: what})) as process, pytest.raises(CaseFailedError) as failed:
        process.ready()
        process.turn()
    assert str(failed.value) == said


@pytest.mark.parametrize(
    ("when", "limit", "said"),
    [
        ("begins", "READY_SECONDS", "it took more than 3 s to begin, and was ended"),
        ("turns", "SPARE_SECONDS", "it took more than 4 s for a turn, and was ended"),
    ],
)
def test_one_that_hangs_is_not_waited_for_without_end(when, limit, said, monkeypatch):
    monkeypatch.setattr(bench_process, limit, 3.0)
    with CaseProcess(partial(Steady, **{when: "hang"}), longest_turn=1.0) as process:
        with pytest.raises(CaseFailedError) as failed:
            process.ready()
            process.turn()
        child = process._child.pid
        assert not psutil.pid_exists(child)  # so that it hinders nobody from here on
    assert str(failed.value) == said and process.seconds < 60


def test_what_is_not_installed_is_no_failure():
    with CaseProcess(partial(Steady, begins="missing")) as process, pytest.raises(CaseMissingError, match=r"^gold$"):
        process.ready()


def test_what_others_take_is_not_its_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("respawn.training.bench_process.monotonic", lambda: now[0])
    with CaseProcess(Steady) as process:
        now[0] += 2
        process.ready()
        now[0] += 50  # somebody else's turn
        process.turn()
        assert process.seconds == 2


def test_sentences_are_not_pages():
    assert len(_sentence("word " * 500)) == 400 and _sentence(" a\n b ") == "a b"
