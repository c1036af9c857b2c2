"""Flipped bits, torn files, a full disk: a clear sentence or the previous checkpoint, and nothing older lost."""

import errno
import json
import os
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tiny_runs import event_kinds, saving_every, straight, tiny, trace

from respawn.checkpoints import checkpointer
from respawn.checkpoints.store import find_newest, saved
from respawn.cli.main import main
from respawn.collection.config import CollectionConfig
from respawn.errors import CheckpointError, CheckpointWriteError, RunFolderError
from respawn.evaluation.config import EvaluationConfig
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_events
from respawn.training import failures
from respawn.training.launch import begin, take_up

LAG_1 = CollectionConfig(num_lanes=3, horizon_steps=8, lag=1)
EVALUATION = EvaluationConfig(every_updates=3, episodes=2, num_lanes=2, limit_steps=60)
CONFIG = tiny("ppo", "gru", updates=12, collection=LAG_1, evaluation=EVALUATION, checkpoints=saving_every(3))
FILES = [
    "manifest.json", "weights.json", "weights.safetensors", "learner.json", "learner.safetensors", "collector.json",
    "collector.safetensors", "pending.json", "pending.safetensors", "director.json", "reporter.json", "cadence.json",
    "clock.json", "observers.json", "guard.json", "ladder.json",
]  # fmt: skip


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


DAMAGES = {"flip": flip, "truncate": truncate, "empty": empty, "delete": os.unlink}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run of 9 updates with checkpoints at 3, 6 and 9, and what it comes to after 12."""
    runs_dir = tmp_path_factory.mktemp("runs")
    folder, _ = begin(replace(CONFIG, updates=9), preset="test", runs_dir=runs_dir, name="original")
    assert [path.name for path in saved(folder.checkpoints)] == ["u00000003", "u00000006", "u00000009"]
    assert sorted(path.name for path in (folder.checkpoints / "u00000009").iterdir()) == sorted(FILES)
    return folder, straight(CONFIG, runs_dir)


@pytest.fixture
def copied(original, tmp_path):
    """A copy of that run to do harm to, and what it comes to after 12 updates."""
    shutil.copytree(original[0].path, tmp_path / "copied")
    return RunFolder(tmp_path / "copied"), original[1]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_and_the_previous_checkpoint_taken(file, damage, copied):
    folder, expected = copied
    DAMAGES[damage](folder.checkpoints / "u00000009" / file)
    found = find_newest(folder.checkpoints)
    assert found.path.name == "u00000006" and len(found.passed_over) == 1
    assert found.passed_over[0].startswith(f"u00000009: {file} ")
    if damage in ("flip", "delete"):  # the rest goes the same way from here
        take_up(folder, updates=12)
        (told,) = [timed.event for timed in read_events(folder) if timed.event.kind == "damaged_checkpoint"]
        assert told.level == "warning" and f"u00000009: {file} " in told.message
        assert trace(folder) == expected
        assert (folder.checkpoints / "damaged-u00000009").is_dir()  # kept as evidence


def test_two_damaged_checkpoints_are_passed_over(copied):
    folder, expected = copied
    for name in ("u00000009", "u00000006"):
        flip(folder.checkpoints / name / "learner.safetensors")
    take_up(folder, updates=12)
    assert event_kinds(folder).count("damaged_checkpoint") == 2
    assert trace(folder) == expected


def test_where_all_are_damaged_nothing_is_touched(copied, capsys):
    folder, _ = copied
    for path in saved(folder.checkpoints):
        truncate(path / "weights.safetensors")
    before = snapshot(folder)
    with pytest.raises(CheckpointError, match=r"every checkpoint in .* is damaged \(u00000009: weights\.safetensors"):
        take_up(folder, updates=12)
    assert main(["resume", "copied", "--runs", str(folder.path.parent)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("respawn: every checkpoint in ") and complaint.count("\n") == 1
    assert snapshot(folder) == before


def test_where_all_are_gone_the_rows_are_not_thrown_away(copied):
    folder, _ = copied
    shutil.rmtree(folder.checkpoints)
    before = snapshot(folder)
    with pytest.raises(
        CheckpointError, match=r"has made updates, but .* holds no checkpoint; put the checkpoints back"
    ):
        take_up(folder, updates=12)
    assert snapshot(folder)["updates.jsonl"] == before["updates.jsonl"]


def snapshot(folder):
    """The content of every file but the lock, the limits, which a failed resume has already noted, and the events."""
    passing = {"run.lock", "run.lock.json", "config.json", "events.jsonl"}
    files = (path for path in folder.path.rglob("*") if path.is_file() and path.name not in passing)
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in files}


@pytest.mark.parametrize("stream", ["updates", "episodes", "evaluations"])
def test_rows_that_the_checkpoint_counts_on_are_missing(stream, copied):
    folder, _ = copied
    path = folder.path / f"{stream}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(RunFolderError, match=rf"{stream}\.jsonl should hold at least .* put the file back"):
        take_up(folder, updates=12)
    path.write_bytes(b"".join(lines))
    assert take_up(folder, updates=12).updates == 12


def test_a_torn_last_row_is_made_again(copied):
    folder, expected = copied
    with folder.updates.open("ab") as file:
        file.write(b'{"update": 10, "dec')
    take_up(folder, updates=12)
    assert trace(folder) == expected


@pytest.mark.parametrize(
    ("file", "change", "error", "sentence"),
    [
        ("config.json", lambda text: text[:-9], RunFolderError, r"config\.json should hold JSON"),
        ("config.json", lambda text: "[]", RunFolderError, r"config\.json should hold a JSON object"),
        (
            "config.json",
            lambda text: text.replace('"seed"', '"seed_"'),
            RunFolderError,
            r"config\.json cannot be used .*does not fit.*seed_",
        ),
        (
            "config.json",
            lambda text: text.replace('"seed": 0', '"seed": "x"'),
            RunFolderError,
            r"config\.json cannot be used .*does not fit.*seed",
        ),
        (
            "config.json",
            lambda text: text.replace('"clip": 0.2', '"clip": "x"'),
            RunFolderError,
            r"config\.json cannot be used .*does not fit",
        ),
        ("config.json", lambda text: text.replace('"seed": 0', '"seed": 1'), CheckpointError, r"other settings than"),
        ("config.json", lambda text: text.replace("CartPole-v1", "Acrobot-v1"), CheckpointError, r"another world"),
        ("meta.json", lambda text: text[:-9], RunFolderError, r"meta\.json should hold JSON"),
        ("meta.json", lambda text: "{}", RunFolderError, r"meta\.json lacks id"),
    ],
)
def test_damaged_papers_get_one_sentence(file, change, error, sentence, copied, capsys):
    folder, _ = copied
    path = folder.path / file
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text
    with pytest.raises(error, match=sentence):
        take_up(folder)
    assert main(["resume", str(folder.path), "--updates", "12"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("respawn: ") and complaint.count("\n") == 1
    path.write_text(text)
    assert take_up(folder, updates=10).updates == 10  # nothing was lost by trying


def test_a_full_disk_while_a_checkpoint_is_written(copied, monkeypatch):
    folder, expected = copied
    older = {path.name: sorted(path.iterdir()) for path in saved(folder.checkpoints)}
    writes, real = [], checkpointer._write

    def full(path, content):
        writes.append(path)
        if len(writes) == 5:
            path.write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(checkpointer, "_write", full)
        with pytest.raises(CheckpointWriteError, match=r"update 12 .*No space left.*u00000009: make room, then resume"):
            take_up(folder, updates=12)
    assert {path.name: sorted(path.iterdir()) for path in saved(folder.checkpoints)} == older
    assert not list(folder.checkpoints.glob(".*"))
    assert read_status(folder).status == "failed" and "No space left" in folder.failure.read_text()
    assert take_up(folder).updates == 12
    assert trace(folder) == expected


def test_a_full_disk_while_a_row_is_written(copied, monkeypatch):
    """The rows of a run have no holes: rather than save after one is lost, it fails, and makes the row again."""
    folder, expected = copied
    real = JsonlStream.receive

    def full(self, record):
        if getattr(record, "update", None) == 11 and self._path == folder.updates:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(JsonlStream, "receive", full)
        with pytest.raises(
            CheckpointWriteError, match=r"rows before it are missing \(observer updates .*No space left"
        ):
            take_up(folder, updates=12)
    assert [path.name for path in saved(folder.checkpoints)][-1] == "u00000009"
    assert read_status(folder).status == "failed"
    take_up(folder)
    assert trace(folder) == expected


def test_a_full_disk_that_cannot_even_hold_the_failure(copied, monkeypatch):
    folder, expected = copied

    def full(*arguments, **settings):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(checkpointer, "_write", full)
        # Stands for the write that follows.
        patch.setattr(failures, "traceback", SimpleNamespace(format_exception=full))
        with pytest.raises(CheckpointWriteError) as caught:
            take_up(folder, updates=12)
    assert "its traceback could not be kept" in caught.value.__notes__[0]
    take_up(folder)
    assert trace(folder) == expected


@pytest.mark.parametrize("newest_only", [True, False])
def test_a_checkpoint_of_a_newer_program_is_neither_misread_nor_passed_over(copied, newest_only):
    folder, _ = copied
    from respawn.checkpoints.manifest import _fingerprint

    before = {path.name for path in saved(folder.checkpoints)}
    for path in saved(folder.checkpoints)[-1 if newest_only else 0 :]:
        content = json.loads((path / "manifest.json").read_text())
        del content["manifest_sha256"]
        content.update(schema_version=99, respawn_version="9.0")
        (path / "manifest.json").write_text(json.dumps({**content, "manifest_sha256": _fingerprint(content)}))
    with pytest.raises(CheckpointError, match=r"schema 99 .*use respawn 9\.0"):
        take_up(folder)
    assert {path.name for path in saved(folder.checkpoints)} == before
