"""A disk that is full, or that may not be written to, at the start and in the middle of a run."""

import errno
import os
import subprocess
from dataclasses import replace

import pytest
from disks import CAN_MOUNT, Disk, mounted
from operators import alarms, whole
from tiny_runs import count_rows, saving_every, straight, tiny, trace

from respawn.cli.main import main
from respawn.errors import CheckpointWriteError, RunFolderError
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.learner import PPOLearner
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.training.launch import begin, take_up

CONFIG = tiny("ppo", updates=12, checkpoints=saving_every(5), evaluation=EvaluationConfig())
WORDS = ["train", "cartpole-ppo", "--updates", "2", "--observers.no-console", "--name", "r"]
REFUSALS = {"full": errno.ENOSPC, "read-only": errno.EROFS}


def before_update(number, monkeypatch, do):
    """Do something in the middle of an update."""
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(knobs)
        if len(calls) == number:
            do()
        return real(self, rollout, knobs)

    monkeypatch.setattr(PPOLearner, "learn", learn)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_at_the_start_it_is_one_sentence_and_leaves_nothing(refusal, tmp_path, monkeypatch, capsys):
    disk = Disk(monkeypatch, tmp_path, REFUSALS[refusal])
    disk.refuses = True
    assert main([*WORDS, "--runs", str(tmp_path / "runs")]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"respawn: the run folder {tmp_path}/runs/r cannot be made (")
    assert os.strerror(REFUSALS[refusal]) in complaint and complaint.endswith("; pick another place\n")
    assert complaint.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("refusal", REFUSALS)
def test_where_it_comes_in_the_middle_the_run_stops_at_once_and_loses_nothing_older(refusal, tmp_path, monkeypatch):
    number, folder = REFUSALS[refusal], RunFolder(tmp_path / "r")
    with monkeypatch.context() as patch:
        disk = Disk(patch, tmp_path, number)
        before_update(7, patch, lambda: setattr(disk, "refuses", True))
        with pytest.raises(CheckpointWriteError) as caught:
            begin(CONFIG, preset="test", runs_dir=tmp_path, name="r")
    assert caught.value.exit_code == 1
    said = str(caught.value)
    assert "rows before it are missing (observer updates failed to receive: OSError" in said
    assert os.strerror(number) in said and "has room and may be written to, then resume the run" in said
    notes = ["and its traceback could not be kept", "and that it failed could not be recorded"]
    assert [note.partition(":")[0] for note in caught.value.__notes__] == notes[: 1 if refusal == "full" else 2]
    assert whole(folder)[-1] == "u00000005" and count_rows(folder.updates) == 6  # it did not wait for update 10
    # Where there was room for a status, there still is; else the run is only seen to be gone.
    assert read_status(folder).status == ("failed" if refusal == "full" else "killed")
    take_up(folder)
    assert trace(folder) == straight(CONFIG, tmp_path)


def test_a_disk_that_keeps_no_record_changes_nothing_of_what_is_said(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        disk = Disk(patch, tmp_path, errno.EROFS)
        before_update(7, patch, lambda: setattr(disk, "refuses", True))
        assert main([*WORDS, "--runs", str(tmp_path), "--checkpoints.every-updates", "5", "--updates", "9"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("respawn: run r failed: ")
    assert "(and its traceback could not be kept: " in said and "(and that it failed could not be recorded: " in said
    assert "the newest checkpoint is u00000005, go on from it with: respawn resume r --runs " in said
    assert "failure.txt, " not in said


@pytest.mark.parametrize("stream", ["episodes", "evaluations"])
def test_where_rows_of_one_stream_alone_are_lost_the_run_stops_and_they_are_made_again(stream, tmp_path, monkeypatch):
    config = replace(CONFIG, evaluation=EvaluationConfig(every_updates=4, episodes=2, num_lanes=2, limit_steps=60))
    folder, disk_refuses = RunFolder(tmp_path / "r"), []
    real_write = JsonlStream._write

    def write(self, left):
        if disk_refuses and self._path.stem == stream:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real_write(self, left)

    with monkeypatch.context() as patch:
        patch.setattr(JsonlStream, "_write", write)
        before_update(7, patch, lambda: disk_refuses.append(True))
        with pytest.raises(CheckpointWriteError, match=f"rows before it are missing .observer {stream} failed"):
            begin(config, preset="test", runs_dir=tmp_path, name="r")
    assert whole(folder)[-1] == "u00000005" and count_rows(folder.updates) < 12
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


@pytest.mark.slow
def test_only_checkpoints_may_not_be_written(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "r")
    with monkeypatch.context() as patch:
        disk = Disk(patch, folder.checkpoints, errno.EROFS)
        before_update(7, patch, lambda: setattr(disk, "refuses", True))
        with pytest.raises(CheckpointWriteError) as caught:
            begin(CONFIG, preset="test", runs_dir=tmp_path, name="r")
    assert "the newest whole one is u00000005: see that the folder may be written to, then resume" in str(caught.value)
    (event,) = alarms(folder)
    assert event.kind == "failed" and event.message.endswith(str(caught.value))
    assert read_status(folder).status == "failed" and whole(folder)[-1] == "u00000005"
    take_up(folder)
    assert trace(folder) == straight(CONFIG, tmp_path)


@pytest.mark.skipif(not CAN_MOUNT, reason="needs the right to mount")
class TestRealDisks:
    def test_a_disk_that_is_really_full(self, tmp_path, monkeypatch, capsys):
        (tmp_path / "runs").mkdir()
        folder = RunFolder(tmp_path / "runs" / "r")
        with mounted(tmp_path / "runs", "size=4m"):
            with monkeypatch.context() as patch:
                before_update(7, patch, lambda: fill(tmp_path / "runs"))
                with pytest.raises(CheckpointWriteError, match="No space left on device"):
                    begin(CONFIG, preset="test", runs_dir=tmp_path / "runs", name="r")
            assert whole(folder)[-1] == "u00000005"
            assert read_status(folder).status == "failed"
            assert "No space left on device" in read_status(folder).facts["cause"]
            (tmp_path / "runs" / "ballast").unlink()
            assert main(["resume", "r", "--runs", str(tmp_path / "runs")]) == 0
            assert trace(folder) == straight(CONFIG, tmp_path)
            assert not list(folder.checkpoints.glob(".*"))
        capsys.readouterr()

    def test_a_disk_that_really_may_not_be_written_to(self, tmp_path, capsys):
        runs = tmp_path / "runs"
        runs.mkdir()
        with mounted(runs, "size=16m"):
            folder, _ = begin(CONFIG, preset="test", runs_dir=runs, name="r")
            subprocess.run(["mount", "-o", "remount,ro", str(runs)], check=True)
            assert main([*WORDS, "--runs", str(runs)]) == 2
            assert "cannot be made ([Errno 30] Read-only file system" in capsys.readouterr().err
            with pytest.raises(RunFolderError, match=r"run r cannot be locked .*its folder must be writable"):
                take_up(folder, updates=14)
            assert main(["resume", "r", "--updates", "14", "--runs", str(runs)]) == 2
            assert capsys.readouterr().err.count("\n") == 1
            assert read_status(folder).status == "finished"  # reading needs no more than that
            subprocess.run(["mount", "-o", "remount,rw", str(runs)], check=True)
            assert take_up(folder, updates=14).updates == 14


def fill(place) -> None:
    """Take all the room there is."""
    with (place / "ballast").open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
