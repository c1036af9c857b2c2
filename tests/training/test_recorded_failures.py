"""A failure leaves a traceback, a status and an event, also where no run was put together."""

import errno
import os
from pathlib import Path

import pytest
import torch

from respawn.errors import ConfigError, WorldError
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import read_status, write_status
from respawn.runs.reader import read_events
from respawn.training import failures, launch
from respawn.training.config import RunConfig
from respawn.training.failures import failure_recorded, interruption_recorded, record_failure

LOST = WorldError("the console is gone")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = create(tmp_path, "r", {"id": "1"}, {})
    write_status(folder, "running", updates=3, decisions=300)
    return folder


def raised_while(context, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, context:
        raise error
    assert caught.value is error


def events(folder: RunFolder) -> list[str]:
    return [timed.event.message for timed in read_events(folder)]


def test_what_failed_while_it_was_put_together(folder):
    raised_while(failure_recorded(folder), LOST)
    status = read_status(folder)
    assert (status.status, status.facts["cause"]) == ("failed", "WorldError: the console is gone")
    assert folder.failure.read_text().endswith("WorldError: the console is gone\n")
    assert events(folder) == ["failed before update 1: WorldError: the console is gone"]


def test_a_cause_is_one_line(folder):
    raised_while(failure_recorded(folder), WorldError("expected:\n  one line\nand got three"))
    assert events(folder) == ["failed before update 1: WorldError: expected: one line and got three"]
    assert read_status(folder).facts["cause"] == "WorldError: expected: one line and got three"


def test_what_was_refused_changes_nothing(folder):
    before = folder.status.read_bytes()
    raised_while(failure_recorded(folder, (ConfigError,)), ConfigError("there is no such actor"))
    assert folder.status.read_bytes() == before
    assert not folder.failure.exists() and not folder.events.exists()


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory."), MemoryError()])
def test_a_shortage_of_memory_is_left_to_those_who_may_know_a_way_on(folder, error):
    before = folder.status.read_bytes()
    raised_while(failure_recorded(folder), error)
    assert folder.status.read_bytes() == before


def test_a_signal_while_it_is_put_together_again(folder):
    with folder.lock():
        raised_while(interruption_recorded(folder, "it stepped down"), KeyboardInterrupt())
        raised_while(interruption_recorded(folder, "it was put together"), KeyboardInterrupt())
    status = read_status(folder)
    assert (status.status, status.facts["cause"]) == ("stopped", "it was interrupted while it stepped down")
    raised_while(interruption_recorded(folder, "it stepped down"), LOST)  # which is somebody else's to record
    assert read_status(folder).status == "stopped"


def test_a_signal_hides_behind_neither_damage_nor_a_disk(folder, monkeypatch):
    (folder.checkpoints / "u00000003").mkdir()

    def full(*arguments, **facts):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with folder.lock():
        with monkeypatch.context() as patch:
            patch.setattr(failures, "write_status", full)
            signal = KeyboardInterrupt()
            raised_while(interruption_recorded(folder, "it stepped down"), signal)
            assert "could not be recorded" in signal.__notes__[0] and "No space left" in signal.__notes__[0]
        raised_while(interruption_recorded(folder, "it stepped down"), KeyboardInterrupt())
    status = read_status(folder)
    assert (status.status, status.facts["updates"]) == ("stopped", 0)


def test_a_failure_is_recorded_also_where_all_checkpoints_are_damaged(folder):
    (folder.checkpoints / "u00000003").mkdir()
    raised_while(failure_recorded(folder), LOST)
    assert read_status(folder).status == "failed" and folder.failure.exists() and len(events(folder)) == 1


def test_a_disk_that_is_full_hides_neither_the_failure_nor_how_the_run_is(folder, monkeypatch):
    """The traceback finds no room; the status does, where the old one was."""

    def full(self, *text, **settings):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real = os.fsync
    calls: list[int] = []

    def full_once(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            full(descriptor)
        real(descriptor)

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(os, "fsync", full_once)
    error = WorldError("the console is gone")
    record_failure(folder, error, updates=5, decisions=500)
    assert error.__notes__ == ["and its traceback could not be kept: [Errno 28] No space left on device"]
    assert not folder.failure.exists()
    status = read_status(folder)
    assert (status.status, status.facts["updates"]) == ("failed", 5)


@pytest.mark.parametrize("has_neighbour", [True, False])
def test_a_run_that_is_refused_leaves_nothing_but_what_others_began_meanwhile(tmp_path, monkeypatch, has_neighbour):
    refusal = ConfigError("there is no such actor")

    def refused(config, folder, first_update):
        if has_neighbour:
            create(folder.path.parent, "neighbour", {"id": "2"}, {})
        raise refusal

    monkeypatch.setattr(launch, "assembled", refused)
    with pytest.raises(ConfigError) as caught:
        launch.begin(RunConfig(), preset="test", runs_dir=tmp_path / "runs", name="refused")
    assert caught.value is refusal
    left = sorted(path.name for path in tmp_path.rglob("*") if path.is_dir())
    assert left == (["checkpoints", "neighbour", "runs", "workers"] if has_neighbour else [])
