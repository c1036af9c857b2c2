import json
import shutil
from dataclasses import replace

import pytest
from three_checkpoints import ROWS, examined, path_of, signed

from respawn.checkpoints import store
from respawn.checkpoints.store import OTHER_SETTINGS, read_manifest, read_part
from respawn.checkpoints.verification import Surroundings, Verdict, examine, examine_all
from respawn.errors import CheckpointError


def test_what_is_whole_is_whole_from_all_sides(folder, around):
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for each in examined(folder, around):
        assert {side: verdict.state for side, verdict in each.verdicts.items()} == dict.fromkeys(
            ("files", "parts", "rows", "settings", "world"), "whole"
        )
        assert each.is_whole and each.problems == ()
        assert each.size_bytes == sum(file.stat().st_size for file in each.path.iterdir())
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert [each.hurdles for each in examined(folder, around)] == [{}, {}, {}]


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
    assert all("was deleted, as observers.retain-archives asks" in each.hurdles["rows"][0] for each in found)


def test_a_part_of_observers_that_says_nothing_of_a_stream_is_told(folder, around):
    (path_of(folder, 3) / "observers.json").write_text(json.dumps({"updates": {"sha256": "0"}}))
    signed(path_of(folder, 3))
    problem = examine(path_of(folder, 3), around).verdicts["rows"].problems[0]
    assert problem == "observers.json does not say how long updates.jsonl was (KeyError: 'bytes')"


def test_settings_and_world_of_another_run_are_told(folder, around):
    other = replace(around, config_sha256="others", world="elsewhere")
    verdicts = examine(path_of(folder, 3), other).verdicts
    assert verdicts["settings"].problems == (f"it was {OTHER_SETTINGS}",)
    assert verdicts["world"].problems == ("it was made in a world, and the run is in elsewhere",)
    unknown = replace(around, settings_problem="config.json is gone", world_problem="no ROM")
    verdicts = examine(path_of(folder, 3), unknown).verdicts
    assert [(verdicts[side].state, verdicts[side].problems) for side in ("settings", "world")] == [
        ("unreadable", ("config.json is gone",)),
        ("unreadable", ("no ROM",)),
    ]


def test_all_are_examined_but_for_those_that_are_deleted_meanwhile(folder, around):
    paths, told = [path_of(folder, updates) for updates in (1, 2, 3)], []

    def deleting(doing, share):
        told.append(share)
        if path_of(folder, 1).exists():
            shutil.rmtree(path_of(folder, 1))

    found = examine_all(lambda: paths, around, deleting)
    assert [each.path for each in found] == paths[1:] and told == sorted(told)
    assert examine_all(list, around) == []
    asked = []

    def deleted_at_once():
        asked.append(1)
        return [path_of(folder, 9)]

    assert examine_all(deleted_at_once, around) == [] and len(asked) == 3


def test_a_file_that_may_not_be_read_is_no_damage(folder, around, monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "file_sha256", forbidden)
    each = examine(path_of(folder, 3), around)
    assert each.verdicts["files"].state == "unreadable" and "may not be read" in each.problems[0]


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


def test_a_checkpoint_that_does_not_say_how_long_streams_were_is_none_to_go_on_from(folder, around):
    path = path_of(folder, 3)
    files = {name: sha256 for name, sha256 in read_manifest(path).files.items() if not name.startswith("observers.")}
    (path / "manifest.json").write_text(replace(read_manifest(path), files=files).to_json())
    found = examine(path, around)
    assert found.verdicts["rows"].is_bad and found.problems == (
        "there is no part 'observers', which says how long the streams were",
    )


def test_a_part_that_is_deleted_while_it_is_read_is_an_error_of_the_checkpoints(folder):
    path = path_of(folder, 3)
    manifest = read_manifest(path)
    (path / "learner.json").unlink()
    with pytest.raises(CheckpointError, match=r"^learner cannot be read \("):
        read_part(path, manifest, "learner")
