import hashlib
import json
import shutil
from dataclasses import asdict, replace

import pytest
import torch

from respawn.checkpoints import store
from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.manifest import Manifest, file_sha256
from respawn.checkpoints.store import Identity, find_newest, read_manifest
from respawn.checkpoints.verification import Surroundings, Verdict, examine, what_resuming_does
from respawn.contracts.clock import Clock
from respawn.errors import CheckpointAccessError, CheckpointError

ROWS = b'{"update": 1}\n'


class Part:
    """Remembers what it was given."""

    def __init__(self, state):
        self._state = state

    def state(self):
        return self._state

    def restore(self, state):
        self._state = state


@pytest.fixture
def folder(tmp_path):
    """Three checkpoints, and the rows that they know of."""
    (tmp_path / "updates.jsonl").write_bytes(ROWS)
    known = {"updates": {"bytes": len(ROWS), "sha256": hashlib.sha256(ROWS).hexdigest(), "archive": 0}, "console": {}}
    checkpointer = Checkpointer(tmp_path / "checkpoints", CheckpointsConfig(), Identity("settings", "a world"))
    for updates in (1, 2, 3):
        parts = {"weights": Part({"w": torch.ones(2)}), "observers": Part(known), "learner": Part({"a": torch.ones(3)})}
        checkpointer.save(parts, Clock(updates=updates), {})
    return tmp_path


@pytest.fixture
def around(folder):
    streams = {"updates": folder / "updates.jsonl", "rulings": folder / "rulings.jsonl"}
    return Surroundings(streams=streams, config_sha256="settings", world="a world")


def path_of(folder, updates):
    return folder / "checkpoints" / f"u{updates:08d}"


def examined(folder, around):
    return [examine(path_of(folder, updates), around) for updates in (1, 2, 3)]


def signed(path, **changes):
    """Give a checkpoint another manifest, whose fingerprint holds, and the SHA-256 that its files have now."""
    manifest = read_manifest(path)
    files = {name: file_sha256(path / name) for name in manifest.files}
    (path / "manifest.json").write_text(replace(manifest, files=files, **changes).to_json())


def test_what_is_whole_is_whole_from_all_sides(folder, around):
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for each in examined(folder, around):
        assert {side: verdict.state for side, verdict in each.verdicts.items()} == dict.fromkeys(
            ("files", "parts", "rows", "settings", "world"), "whole"
        )
        assert each.is_whole and each.problems == ()
        assert each.size_bytes == sum(file.stat().st_size for file in each.path.iterdir())
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert what_resuming_does(examined(folder, around)).path == path_of(folder, 3)


def test_a_checkpoint_alone_is_compared_with_nothing(folder):
    each = examine(path_of(folder, 1), Surroundings())
    states = {side: verdict.state for side, verdict in each.verdicts.items()}
    assert states == {"files": "whole", "parts": "whole", "rows": "unknown", "settings": "unknown", "world": "unknown"}
    assert each.is_whole


def test_every_file_that_differs_is_named(folder, around):
    path = path_of(folder, 3)
    (path / "learner.json").unlink()
    content = bytearray((path / "weights.safetensors").read_bytes())
    content[-1] ^= 1
    (path / "weights.safetensors").write_bytes(content)
    each = examine(path, around)
    assert each.verdicts == {
        "files": Verdict(
            "damaged",
            ("learner.json is missing", "weights.safetensors does not match its SHA-256 in the manifest"),
        )
    }
    assert not each.is_whole and each.manifest is not None


@pytest.mark.parametrize("text", ["{", "", "[]", '{"manifest_sha256": "0"}'])
def test_a_damaged_manifest_is_told(folder, around, text):
    (path_of(folder, 3) / "manifest.json").write_text(text)
    each = examine(path_of(folder, 3), around)
    assert each.manifest is None and each.verdicts["files"].state == "damaged"
    assert "manifest.json" in each.problems[0]


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("learner.json", b'{"a": {"$tensor": "b"}}', "it speaks of a tensor 'b'"),
        ("learner.json", b"[]", "learner.json should hold an object"),
        ("learner.safetensors", b"no tensors", "learner.safetensors cannot be read"),
    ],
)
def test_parts_that_say_no_state_are_told_though_their_files_are_as_written(folder, around, file, content, problem):
    (path_of(folder, 3) / file).write_bytes(content)
    signed(path_of(folder, 3))
    verdict = examine(path_of(folder, 3), around).verdicts["parts"]
    assert verdict.state == "damaged" and verdict.problems[0].startswith(problem)


def test_weights_are_compared_with_their_own_fingerprint(folder, around):
    signed(path_of(folder, 3), weights_sha256="0" * 64)
    verdict = examine(path_of(folder, 3), around).verdicts["parts"]
    assert verdict.problems == ("the weights are not those whose SHA-256 the manifest names",)


def test_rows_that_are_gone_or_changed_are_told(folder, around):
    stream = folder / "updates.jsonl"
    stream.write_bytes(ROWS + b'{"update": 2}\n')
    assert examine(path_of(folder, 3), around).is_whole
    stream.write_bytes(ROWS.replace(b"1", b"7"))
    assert "was changed" in examine(path_of(folder, 3), around).verdicts["rows"].problems[0]
    stream.unlink()
    assert "updates.jsonl is missing" in examine(path_of(folder, 3), around).verdicts["rows"].problems[0]


def test_rows_that_were_let_go_on_purpose_are_no_damage(folder, around):
    (folder / "updates.jsonl").rename(folder / "updates.jsonl.000002")
    (folder / "updates.jsonl").write_bytes(b"")
    found = examined(folder, around)
    assert [each.verdicts["rows"].state for each in found] == ["let go"] * 3 and all(each.is_whole for each in found)
    doing = what_resuming_does(found)
    assert doing.path is None and "was deleted, as observers.retain-archives asks" in doing.refusal


def test_a_part_of_observers_that_says_nothing_of_a_stream_is_told(folder, around):
    (path_of(folder, 3) / "observers.json").write_text(json.dumps({"updates": {"sha256": "0"}}))
    signed(path_of(folder, 3))
    problem = examine(path_of(folder, 3), around).verdicts["rows"].problems[0]
    assert problem == "observers.json does not say how long updates.jsonl was (KeyError: 'bytes')"


def test_settings_and_world_of_another_run_are_told(folder, around):
    other = replace(around, config_sha256="others", world="elsewhere")
    verdicts = examine(path_of(folder, 3), other).verdicts
    assert verdicts["settings"].problems == ("it was made with other settings than config.json holds now",)
    assert verdicts["world"].problems == ("it was made in a world, and the run is in elsewhere",)
    unknown = replace(around, settings_problem="config.json is gone", world_problem="no ROM")
    verdicts = examine(path_of(folder, 3), unknown).verdicts
    assert [(verdicts[side].state, verdicts[side].problems) for side in ("settings", "world")] == [
        ("unreadable", ("config.json is gone",)),
        ("unreadable", ("no ROM",)),
    ]


def _damage_file(path):
    (path / "learner.json").write_text("{}")


def _damage_manifest(path):
    (path / "manifest.json").write_text("{")


def _other_schema(path):
    content = {**asdict(read_manifest(path)), "schema_version": 99}
    (path / "manifest.json").write_text(Manifest(**content).to_json())


@pytest.mark.parametrize("damages", [{}, {3: _damage_file}, {3: _damage_manifest, 2: _damage_file}])
def test_resuming_passes_over_what_is_damaged_as_it_is_said(folder, around, damages):
    for updates, damage in damages.items():
        damage(path_of(folder, updates))
    doing, found = what_resuming_does(examined(folder, around)), find_newest(folder / "checkpoints")
    assert doing.path == found.path and doing.refusal == ""
    assert list(doing.passed_over) == [reason.partition(":")[0] for reason in found.passed_over]


def test_resuming_is_refused_where_all_are_damaged(folder, around):
    for updates in (1, 2, 3):
        _damage_file(path_of(folder, updates))
    doing = what_resuming_does(examined(folder, around))
    assert doing.path is None and doing.refusal == "every checkpoint is damaged" and len(doing.passed_over) == 3
    with pytest.raises(CheckpointError, match="every checkpoint"):
        find_newest(folder / "checkpoints")


def test_resuming_does_not_go_back_past_what_only_cannot_be_read_here(folder, around):
    _other_schema(path_of(folder, 2))
    _damage_file(path_of(folder, 3))
    found = examined(folder, around)
    assert found[1].verdicts["files"].state == "unreadable" and not found[1].is_whole
    doing = what_resuming_does(found)
    assert doing.path is None and doing.refusal.startswith("u00000002: it is of schema 99")
    with pytest.raises(CheckpointAccessError):
        find_newest(folder / "checkpoints")


def test_a_file_that_may_not_be_read_is_no_damage(folder, around, monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "file_sha256", forbidden)
    each = examine(path_of(folder, 3), around)
    assert each.verdicts["files"].state == "unreadable" and "may not be read" in each.problems[0]


def test_rows_of_another_run_are_a_refusal_and_no_reason_to_go_back(folder, around):
    (folder / "updates.jsonl").write_bytes(b"")
    doing = what_resuming_does(examined(folder, around))
    assert doing.path is None and doing.passed_over == () and doing.refusal.startswith("u00000003: ")


def test_it_tells_how_far_it_is_and_a_folder_that_goes_away_is_no_mishap(folder, around):
    told = []
    examine(path_of(folder, 1), around, lambda doing, share: told.append((doing, share)))
    assert [share for _, share in told] == sorted(share for _, share in told) and told[0][1] == 0.0
    assert {doing for doing, _ in told} == {
        f"u00000001/{name}"
        for name in ("weights.json", "weights.safetensors", "observers.json", "learner.json", "learner.safetensors")
    }
    shutil.rmtree(path_of(folder, 1))
    assert not examine(path_of(folder, 1), around).is_whole
    assert what_resuming_does([]).refusal == ""
