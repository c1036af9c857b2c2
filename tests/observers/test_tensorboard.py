import subprocess
import sys
import time

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from respawn.contracts.records import EvaluationReport, Event, Ruling, UpdateReport
from respawn.observers.tensorboard import TensorBoard


def report(update: int, value: float | None = None) -> UpdateReport:
    return UpdateReport(update, update * 10, 0, 0, {"loss/policy": float(update) if value is None else value})


def curve(directory, name):
    accumulator = EventAccumulator(str(directory))
    accumulator.Reload()
    return [(scalar.step, scalar.value) for scalar in accumulator.Scalars(name)]


def test_the_same_names_over_decisions(tmp_path):
    board = TensorBoard(tmp_path, every_seconds=0)
    board.receive(report(1))
    board.receive(EvaluationReport(1, 10, {"evaluation/return_mean": 5.0}))
    board.receive(Event("k", "m"))
    board.receive(report(2))
    board.close()
    board.close()
    assert curve(tmp_path, "loss/policy") == [(10, 1.0), (20, 2.0)]
    assert curve(tmp_path, "evaluation/return_mean") == [(10, 5.0)]


def test_rulings_are_drawn_under_their_schedules_name(tmp_path):
    board = TensorBoard(tmp_path, every_seconds=0)
    board.receive(report(3))
    facts = {"remaining_ratio": 0.7, "warning_active": True, "label": "stage1", "rate": float("nan"), "since": None}
    board.receive(Ruling(3, "hard_starts", facts))
    board.close()
    assert curve(tmp_path, "hard_starts/remaining_ratio") == [(30, pytest.approx(0.7))]
    assert curve(tmp_path, "hard_starts/warning_active") == [(30, 1.0)]
    with pytest.raises(KeyError):
        curve(tmp_path, "hard_starts/rate")


def test_a_fast_run_draws_the_first_the_last_and_all_evaluations(tmp_path):
    board = TensorBoard(tmp_path, every_seconds=3600)
    for update in range(1, 101):
        board.receive(report(update))
        if update % 50 == 0:
            board.receive(EvaluationReport(update, update * 10, {"evaluation/return_mean": 5.0}))
    board.close()
    assert [step for step, _ in curve(tmp_path, "loss/policy")] == [10, 1000]
    assert [step for step, _ in curve(tmp_path, "evaluation/return_mean")] == [500, 1000]


@pytest.mark.parametrize("every_seconds", [0, 3600])  # the throttle must not make the state forget
def test_resuming_hides_what_came_after_the_checkpoint(tmp_path, every_seconds):
    board = TensorBoard(tmp_path, every_seconds)
    board.receive(report(1))
    board.receive(report(2))
    state = board.state()
    board.receive(report(3, value=-1.0))
    board.receive(report(4, value=-1.0))
    board.close()

    board = TensorBoard(tmp_path, every_seconds=0)
    board.restore(state)
    board.receive(report(3))
    board.close()
    steps = curve(tmp_path, "loss/policy")
    assert steps[-1] == (30, 3.0) and steps[0] == (10, 1.0)
    assert all(value > 0 for _, value in steps)
    assert state == {"decisions": 20}


@pytest.mark.parametrize("seconds_ahead", [0, 1])
def test_what_is_drawn_after_a_resume_is_read_after_all_else(tmp_path, seconds_ahead):
    """Files are read by name: second, host, process, number; the last three do not sort by time."""
    before = TensorBoard(tmp_path, every_seconds=0)
    before.receive(report(3, value=-1.0))
    before.close()
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"events.out.tfevents.{int(time.time()) + seconds_ahead}.zzz.9.9")
    board = TensorBoard(tmp_path, every_seconds=0)
    board.restore({"decisions": 20})
    board.receive(report(3))
    board.close()
    assert curve(tmp_path, "loss/policy") == [(30, 3.0)]


def test_a_clock_that_was_set_back_is_not_waited_for(tmp_path):
    (tmp_path / f"events.out.tfevents.{int(time.time()) + 3600}.zzz.9.9").touch()
    board = TensorBoard(tmp_path, every_seconds=0)
    board.receive(report(1))
    board.close()
    assert curve(tmp_path, "loss/policy") == [(10, 1.0)]


def test_a_run_that_reports_nothing_leaves_no_file(tmp_path):
    board = TensorBoard(tmp_path / "tensorboard")
    board.close()
    assert not (tmp_path / "tensorboard").exists()


def test_tensorboard_is_not_imported_before_it_is_needed():
    script = "import sys, respawn.observers.build; sys.exit('tensorboard' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_of_by_one_error_and_nothing_is_printed(tmp_path):
    """In a process of its own, for the limit on files and the hook for errors of threads are the process's."""
    program = (
        "import resource, sys, time\n"
        "from pathlib import Path\n"
        "from respawn.contracts.records import UpdateReport\n"
        "from respawn.observers.tensorboard import TensorBoard\n"
        f"board = TensorBoard(Path({str(tmp_path / 'board')!r}), every_seconds=0)\n"
        "board.receive(UpdateReport(1, 1, 1, 1, {'a': 1.0}))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))\n"
        "until = time.monotonic() + 60\n"
        "try:\n"
        "    for number in range(2, 1_000_000):\n"
        "        board.receive(UpdateReport(number, number, 1, 1, {'a': 1.0}))\n"
        "        assert time.monotonic() < until\n"
        "except OSError as error:\n"
        "    print(type(error).__name__, error.strerror)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (0, "OSError File too large\n")
    assert "Traceback" not in ended.stderr
