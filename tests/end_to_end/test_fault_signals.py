"""A signal in the middle of a save: the save is finished; a second one drops it, and nothing saved before is lost."""

import os
import signal
from collections.abc import Callable

import pytest
from operators import alarms, whole
from tiny_runs import begin_and_abandon, event_kinds, saving_every, straight, tiny, trace

from respawn.checkpoints import checkpointer
from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import find_newest
from respawn.cli.main import main
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.metadata import read_status
from respawn.training.launch import take_up

CONFIG = tiny("ppo", "gru", updates=12, checkpoints=saving_every(3), evaluation=EvaluationConfig())
MOMENTS: dict[str, tuple[object, str, int]] = {
    "the first file is written": (checkpointer, "_write", 1),
    "the manifest is written": (checkpointer, "_write", -1),
    "it is put in its place": (checkpointer, "_put_in_place", 1),
    "older ones are deleted": (Checkpointer, "_retain", 1),
}


def quick(*moments):
    """All moments, of which only these belong to the default suite."""
    return [pytest.param(moment, marks=[] if moment in moments else pytest.mark.slow) for moment in MOMENTS]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return straight(CONFIG, tmp_path_factory.mktemp("runs"))


@pytest.fixture
def left(tmp_path, monkeypatch):
    """A run that was left at update 4; the next save is that of update 6."""
    return begin_and_abandon(CONFIG, tmp_path, monkeypatch, after=4)


def when(moment: str, monkeypatch: pytest.MonkeyPatch, do: Callable[[], None]) -> list[str]:
    """Do something once, in the middle of that moment of the first save; returns what calls there were."""
    place, name, number = MOMENTS[moment]
    real, calls = getattr(place, name), []

    def watched(*arguments):
        calls.append(str(arguments[0]))
        is_manifest = str(arguments[0]).endswith("manifest.json")
        if (number == -1 and is_manifest and done == []) or len(calls) == number:
            done.append(True)
            do()
        return real(*arguments)

    done: list[bool] = []
    monkeypatch.setattr(place, name, watched)
    return calls


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("moment", quick("the manifest is written"))
def test_the_save_is_finished(moment, left, expected, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        when(moment, patch, terminate)
        assert main(["resume", "left", "--runs", str(tmp_path)]) == 143
    assert "Stopped at update 6, and saved." in capsys.readouterr().out
    assert whole(left)[-1] == "u00000006" and not list(left.checkpoints.glob(".*"))
    assert read_status(left).status == "stopped" and "cause" not in read_status(left).facts
    assert [kind for kind in event_kinds(left) if kind.startswith("stop")] == ["stopping", "stopped"]
    assert alarms(left) == []
    take_up(left)
    assert trace(left) == expected


@pytest.mark.parametrize("moment", quick("the manifest is written", "it is put in its place"))
def test_a_second_one_does_not_wait_for_it(moment, left, expected, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        when(moment, patch, lambda: (terminate(), terminate()))
        assert main(["resume", "left", "--runs", str(tmp_path)]) == 143
    complaint = capsys.readouterr().err
    was_there = moment == "older ones are deleted"  # by then it is a checkpoint like any other
    newest = "u00000006" if was_there else "u00000003"
    assert complaint.startswith("respawn: run left was interrupted in the middle of an update;")
    assert f"the newest checkpoint is {newest}, go on from it with: respawn resume left" in complaint
    assert complaint.count("\n") == 1
    assert whole(left)[-1] == newest and not list(left.checkpoints.glob(".writing-*"))
    status = read_status(left)
    assert (status.status, status.facts["cause"]) == ("stopped", "a second signal came in the middle of an update")
    (event,) = alarms(left)
    assert (event.kind, event.level) == ("stopped", "warning")
    assert "and not saved: a second signal came" in event.message and not left.failure.exists()
    take_up(left)
    assert trace(left) == expected


@pytest.mark.slow
def test_interrupts_come_in_any_order(left, expected, tmp_path, monkeypatch, capsys):
    """The exit code says which signal was first: whoever sent it waits for it."""

    def both() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        when("the manifest is written", patch, both)
        assert main(["resume", "left", "--runs", str(tmp_path)]) == 130
    capsys.readouterr()
    assert find_newest(left.checkpoints).path.name == "u00000003"
    take_up(left)
    assert trace(left) == expected
