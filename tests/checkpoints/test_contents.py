import json
import shutil

import pytest
import torch

from respawn.checkpoints import contents
from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.contents import check_readable, look_into, part_names, read_structure, shape_of
from respawn.checkpoints.store import Identity, read_manifest
from respawn.contracts.clock import Clock
from respawn.errors import CheckpointError


class Part:
    """Remembers what it was given."""

    def __init__(self, state):
        self._state = state

    def state(self):
        return self._state

    def restore(self, state):
        self._state = state


WEIGHTS = {"w": torch.ones(2, 3), "b": torch.zeros(4, dtype=torch.float64)}
LEARNER = {
    "moments": [torch.tensor([1.0, float("nan"), float("inf")]), torch.tensor(2.0)],
    "born": torch.arange(5).numpy(),
    "half": torch.zeros(2, 0, dtype=torch.bfloat16),
    "best": float("-inf"),
    "deep": [{"worst": float("nan")}],
    "updates": 3,
}


@pytest.fixture
def path(tmp_path):
    checkpointer = Checkpointer(tmp_path / "checkpoints", CheckpointsConfig(), Identity("settings", "a world"))
    parts = {"weights": Part(WEIGHTS), "learner": Part(LEARNER), "clock": Part({"updates": 3})}
    return checkpointer.save(parts, Clock(updates=3), {})


def test_every_tensor_is_told_with_its_kind_and_shape(path):
    manifest = read_manifest(path)
    assert part_names(manifest) == ["clock", "learner", "weights"]
    weights = look_into(path, manifest, "weights")
    facts = {tensor.name: (tensor.kind, tensor.shape, tensor.numbers, tensor.not_finite) for tensor in weights.tensors}
    assert facts == {"w": ("float32", (2, 3), 6, 0), "b": ("float64", (4,), 4, 0)}
    assert (weights.numbers, weights.not_finite, weights.problem) == (10, 0, "")
    assert weights.files == {name: (path / name).stat().st_size for name in ("weights.json", "weights.safetensors")}
    assert weights.size_bytes == sum(weights.files.values())
    clock = look_into(path, manifest, "clock")
    assert (clock.tensors, clock.kinds, list(clock.files)) == ((), (), ["clock.json"])


@pytest.mark.parametrize("at_a_time", [1, 2, 1 << 22])
def test_numbers_that_are_not_finite_are_counted_and_found(path, monkeypatch, at_a_time):
    monkeypatch.setattr(contents, "NUMBERS_AT_A_TIME", at_a_time)
    learner = look_into(path, read_manifest(path), "learner")
    assert {tensor.name: tensor.not_finite for tensor in learner.tensors if tensor.not_finite} == {"moments/0": 2}
    assert learner.not_finite == 2 and set(learner.kinds) == {"float32", "int64", "bfloat16"}
    assert learner.not_finite_values == ("best = -inf", "deep/0/worst = nan")
    assert {tensor.shape for tensor in learner.tensors} == {(3,), (), (5,), (2, 0)}


def test_it_tells_how_much_it_has_seen(path):
    told = []
    look_into(path, read_manifest(path), "learner", told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) == 4


def test_a_structure_and_a_shape_can_be_had_without_reading_tensors(path):
    manifest = read_manifest(path)
    structure = read_structure(path, manifest, "learner")
    assert structure["updates"] == 3 and structure["best"] == {"$float": "-inf"}
    assert shape_of(path, manifest, "learner", structure["born"]["$array"]) == (5,)
    for part, tensor in (("learner", "no such"), ("clock", "any")):
        with pytest.raises(CheckpointError, match=f"{part}.safetensors holds no tensor '{tensor}'"):
            shape_of(path, manifest, part, tensor)
    with pytest.raises(CheckpointError, match="there is no part 'optimiser'; there are: clock, learner, weights"):
        read_structure(path, manifest, "optimiser")


def _cut(path):
    path.write_bytes(path.read_bytes()[:-5])


def _made_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("file", "damage", "problem"),
    [
        ("learner.json", lambda path: path.unlink(), "learner.json is missing"),
        ("learner.json", lambda path: path.write_text("{"), "learner.json cannot be read"),
        ("learner.json", lambda path: path.write_text("[1]"), "learner.json should hold an object, and holds a list"),
        ("learner.json", lambda path: path.write_text("[" * 100_000), "learner.json cannot be read"),
        ("learner.json", _made_a_folder, "learner.json cannot be read"),
        ("learner.json", lambda path: path.write_text('{"a": {"$tensor": "q"}}'), "it speaks of a tensor 'q'"),
        ("learner.safetensors", lambda path: path.unlink(), "learner.safetensors is missing"),
        ("learner.safetensors", lambda path: path.write_bytes(b""), "learner.safetensors cannot be read"),
        ("learner.safetensors", _cut, "learner.safetensors cannot be read"),
        ("learner.safetensors", _made_a_folder, "learner.safetensors cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_other_parts_too(path, file, damage, problem):
    manifest = read_manifest(path)
    damage(path / file)
    assert look_into(path, manifest, "learner").problem.startswith(problem)
    with pytest.raises(CheckpointError, match=problem):
        check_readable(path, manifest, "learner")
    assert look_into(path, manifest, "weights").problem == ""
    check_readable(path, manifest, "weights")


def test_a_part_without_tensors_must_not_speak_of_any(path):
    manifest = read_manifest(path)
    check_readable(path, manifest, "clock")
    (path / "clock.json").write_text(json.dumps({"updates": [{"$array": "x"}]}))
    with pytest.raises(CheckpointError, match="a tensor 'x', which its file of tensors does not hold"):
        check_readable(path, manifest, "clock")


def test_nothing_is_changed_by_looking(path):
    copy = shutil.copytree(path, path.parent / "copy")
    manifest = read_manifest(path)
    for name in part_names(manifest):
        look_into(path, manifest, name)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == {
        file.name: file.read_bytes() for file in copy.iterdir()
    }
