import json
from dataclasses import replace

import pytest
import torch

from respawn import weights as weights_package
from respawn.errors import CheckpointError, ConfigError
from respawn.training import pretrained
from respawn.training.pretrained import export, read_shipped, read_weights
from respawn.training.recorded import load_config
from respawn.training.trained import find_trained, load_run, load_shipped
from respawn.weights import is_shipped, shipped_names
from respawn.worlds.registry import make_world


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A package of weights that is empty yet."""
    monkeypatch.setattr(weights_package.resources, "files", lambda package: tmp_path)
    return tmp_path


def test_what_is_exported_is_the_same_policy(mario_run, weights, tmp_path):
    beside = export(mario_run, "newest", weights / "tiny.json", trained_with="respawn train tiny")
    assert beside == weights / "tiny.safetensors" and beside.stat().st_size < 2_000_000
    assert shipped_names() == ("tiny",)
    run, shipped = load_run(mario_run), find_trained(tmp_path / "runs", "tiny")
    assert shipped.config == replace(run.config, device="auto")
    assert (shipped.world, shipped.updates) == (run.world, run.updates)
    assert shipped.weights_sha256 == run.weights_sha256 and shipped.folder is None
    assert shipped.origin == "'tiny', shipped with respawn" and run.origin == "run tiny, checkpoint u00000001"
    assert read_shipped("tiny").trained_with == "respawn train tiny"
    world = make_world(run.config.world, 1, device=torch.device("cpu"), seed=0)
    models = [each.model(world.spec, torch.device("cpu")) for each in (run, shipped)]
    values = [model.act(world.observe(), model.initial_memory(1), None).values for model in models]
    assert torch.equal(*values)


def test_a_run_of_the_same_name_comes_first(mario_run, weights):
    export(mario_run, "newest", weights / "tiny.json")
    assert not is_shipped(mario_run.path.parent, "tiny") and is_shipped(weights / "runs", "tiny")
    assert find_trained(mario_run.path.parent, "tiny").folder is not None
    assert read_shipped("tiny").trained_with == "respawn train tiny --seed 0"


def test_a_name_that_is_not_shipped(weights, mario_run):
    with pytest.raises(ConfigError, match="no weights called 'mario' are shipped; There are: none"):
        read_shipped("mario")
    export(mario_run, "newest", weights / "mario.json")
    with pytest.raises(ConfigError, match=r"did you mean mario\?"):
        read_shipped("maria")


def test_what_is_of_one_machine_only_is_not_shipped(mario_run, weights, monkeypatch):
    config = load_config(mario_run)
    elsewhere = replace(config, world=replace(config.world, rom="/home/somebody/mario.nes"))
    monkeypatch.setattr(pretrained, "load_config", lambda folder: elsewhere)
    export(mario_run, "newest", weights / "tiny.json")
    assert "somebody" not in (weights / "tiny.json").read_text()
    assert read_shipped("tiny").config == replace(config, device="auto")


def test_what_is_shipped_has_one_checkpoint_only(mario_run, weights, tmp_path):
    export(mario_run, "newest", weights / "tiny.json")
    with pytest.raises(ConfigError, match=r"they have no checkpoint 'u00000001'; leave out --checkpoint"):
        find_trained(tmp_path / "runs", "tiny", "u00000001")


def test_damage_is_noticed(mario_run, weights):
    export(mario_run, "newest", weights / "tiny.json")
    tensors = weights / "tiny.safetensors"
    whole = tensors.read_bytes()
    tensors.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(CheckpointError, match="should have SHA-256"):
        read_shipped("tiny")
    tensors.write_bytes(whole[:40])
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_shipped("tiny")
    tensors.unlink()
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_shipped("tiny")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "is of format 2 and this program reads format 1"),
        ({"config": {"nonsense": 1}}, "config.json does not fit this version"),
        ({"weights_sha256": None}, "should have SHA-256"),
    ],
)
def test_descriptions_that_do_not_fit(mario_run, weights, change, sentence):
    file = weights / "tiny.json"
    export(mario_run, "newest", file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(CheckpointError, match=sentence):
        read_weights(file)


def test_too_large_weights_are_not_exported(mario_run, weights, monkeypatch):
    monkeypatch.setattr(pretrained, "MOST_BYTES", 100)
    with pytest.raises(ConfigError, match="at most 100 bytes are shipped"):
        export(mario_run, "newest", weights / "tiny.json")
    with pytest.raises(ConfigError, match=r"described in a .json"):
        export(mario_run, "newest", weights / "tiny.safetensors")
    assert list(weights.iterdir()) == []


def test_what_is_really_shipped_can_be_played():
    for name in shipped_names():
        trained = load_shipped(name)
        lanes = getattr(trained.config.world, "fish", 1)
        world = make_world(trained.config.world, lanes, device=torch.device("cpu"), seed=0)
        assert trained.model(world.spec, torch.device("cpu")) is not None
        world.close()
