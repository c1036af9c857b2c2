"""Runs that begin with the weights of another."""

import json
import shutil
from dataclasses import replace

import pytest
from small_trainings import train_tiny

from respawn.checkpoints.store import find_newest, read_part
from respawn.errors import CheckpointError, ConfigError, RunFolderError
from respawn.models.config import ModelConfig
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.runs.reader import read_events
from respawn.training import launch
from respawn.training.config import config_from_json, config_sha256, config_to_json
from respawn.training.first_weights import named_source
from respawn.training.launch import begin, take_up
from respawn.training.recorded import load_config
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig


@pytest.fixture
def source(tmp_path):
    return train_tiny(ForeignConfig(), tmp_path, "source")


def going_on(source, **changes):
    """What a run is made of that begins with the source's weights: all of the source's own, and other dice."""
    return replace(load_config(source), seed=5, weights_from="source", **changes)


def part(folder, update, name):
    found = find_newest(folder.checkpoints, only=f"u{update:08d}")
    return found.manifest, read_part(found.path, found.manifest, name)


def test_the_weights_are_the_same_bit_for_bit_and_nothing_else_is(source, tmp_path):
    folder, _ = begin(going_on(source), preset="tiny", runs_dir=tmp_path, name="next")
    ended, weights = part(source, 1, "weights")
    began, first = part(folder, 0, "weights")
    assert weights.keys() == first.keys() and all(weights[name].equal(first[name]) for name in weights)
    assert began.weights_sha256 == ended.weights_sha256
    assert (began.updates, began.decisions) == (0, 0)
    assert part(source, 1, "learner")[1]["updates"] == 1 and part(folder, 0, "learner")[1]["updates"] == 0
    fresh, _ = begin(replace(going_on(source), weights_from=""), preset="tiny", runs_dir=tmp_path, name="fresh")
    assert part(folder, 0, "learner")[1]["optimizer"].keys() == part(fresh, 0, "learner")[1]["optimizer"].keys()
    for name in ("learner", "collector", "clock"):
        assert began.files[f"{name}.json"] == part(fresh, 0, name)[0].files[f"{name}.json"]
    assert part(fresh, 0, "weights")[0].weights_sha256 != ended.weights_sha256


def test_the_run_says_whose_they_are(source, tmp_path):
    folder, _ = begin(going_on(source), preset="tiny", runs_dir=tmp_path, name="next")
    recorded = {
        "run": "source",
        "checkpoint": "u00000001",
        "updates": 1,
        "decisions": 8,
        "weights_sha256": find_newest(source.checkpoints).manifest.weights_sha256,
    }
    assert read_meta(folder).weights_from == recorded
    told = [timed.event for timed in read_events(folder) if timed.event.kind == "weights_from"]
    assert [event.facts for event in told] == [recorded]
    assert told[0].message == "begins with the weights of run source, checkpoint u00000001 (1 updates)"
    assert read_meta(source).weights_from is None


def test_a_checkpoint_can_be_named(source, tmp_path):
    config = replace(going_on(source), weights_from="source@u00000000")
    folder, _ = begin(config, preset="tiny", runs_dir=tmp_path, name="next")
    assert read_meta(folder).weights_from["updates"] == 0
    assert part(folder, 0, "weights")[0].weights_sha256 == part(source, 0, "weights")[0].weights_sha256


def test_how_a_source_is_named():
    assert named_source("boot") == ("boot", "newest")
    assert named_source("boot@best") == ("boot", "best")
    assert named_source("my@runs/boot") == ("my@runs/boot", "newest")
    assert named_source("my@runs/boot@u00000010") == ("my@runs/boot", "u00000010")
    for wrong in ("boot@", "@best", "@"):
        with pytest.raises(ConfigError, match=r"--weights-from wants RUN, RUN@best or a checkpoint as RUN@u00000100"):
            named_source(wrong)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"world": RecallConfig()}, r"are of CartPole-v1 \(sees float32 \[4\], .*, and not of recall \(sees"),
        ({"model": ModelConfig(hidden_sizes=(9,))}, r"are of another model: \d of \d tensors differ, the first is '"),
        ({"model": ModelConfig(hidden_sizes=(8,), activation="relu")}, r"model\.activation is tanh, and not relu"),
        ({"weights_from": "sauce"}, r"there is no run 'sauce' in .*did you mean source\?"),
        ({"weights_from": "source@u00000009"}, r"no checkpoint 'u00000009'; there are: u00000000, u00000001"),
        ({"weights_from": "source@"}, "--weights-from wants RUN"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_folder_is_made(source, tmp_path, monkeypatch, change, sentence):
    monkeypatch.setattr(launch, "create", lambda *_: pytest.fail("a folder was made"))
    with pytest.raises((ConfigError, RunFolderError, CheckpointError), match=sentence) as refusal:
        begin(replace(going_on(source), **change), preset="tiny", runs_dir=tmp_path, name="next")
    assert refusal.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_other_buttons_are_another_world(mario_run, tmp_path):
    others = MarioConfig(buttons=("NONE", "A", "B", "LEFT", "RIGHT", "UP", "DOWN"), limit_steps=12)
    config = replace(load_config(mario_run), world=others, weights_from=str(mario_run.path))
    with pytest.raises(ConfigError, match=r"are for the actions NONE, RIGHT, .*, and not for NONE, A, B, LEFT"):
        begin(config, preset="tiny", runs_dir=tmp_path, name="next")


def left_before_its_first_checkpoint(source, tmp_path, monkeypatch):
    """As kill -9 leaves a run whose folder is made and whose first checkpoint is not."""
    with monkeypatch.context() as patch:
        patch.setattr(launch, "drive", lambda run, *ignored: run.close())
        folder, _ = begin(going_on(source), preset="tiny", runs_dir=tmp_path, name="next")
    assert find_newest(folder.checkpoints) is None
    return folder


def test_a_run_left_before_its_first_checkpoint_begins_with_the_same_weights(source, tmp_path, monkeypatch):
    folder = left_before_its_first_checkpoint(source, tmp_path, monkeypatch)
    recorded = read_meta(folder).weights_from
    take_up(source, updates=2)  # its newest is another now
    assert find_newest(source.checkpoints).manifest.weights_sha256 != recorded["weights_sha256"]
    take_up(folder)
    assert part(folder, 0, "weights")[0].weights_sha256 == recorded["weights_sha256"]


def test_it_is_refused_where_they_are_gone(source, tmp_path, monkeypatch):
    folder = left_before_its_first_checkpoint(source, tmp_path, monkeypatch)
    shutil.rmtree(source.path)
    with pytest.raises(CheckpointError, match=r"next was left before its first checkpoint, .* cannot be had again"):
        take_up(folder)
    train_tiny(RecallConfig(), tmp_path, "source")  # another run of the same name has others
    with pytest.raises(CheckpointError, match="run source, checkpoint u00000001 has others now"):
        take_up(RunFolder(folder.path))


def test_a_run_that_is_saved_needs_them_no_more(source, tmp_path):
    folder, _ = begin(going_on(source), preset="tiny", runs_dir=tmp_path, name="next")
    shutil.rmtree(source.path)
    assert take_up(folder, updates=3).updates == 3


def test_runs_from_before_this_are_still_themselves(source):
    config = load_config(source)
    plain = json.loads(source.config.read_text())
    assert plain.pop("weights_from") == ""
    source.config.write_text(json.dumps(plain))
    assert load_config(source) == config
    assert config_sha256(config_from_json(plain)) == config_sha256(config)
    assert config_sha256(replace(config, weights_from="a")) != config_sha256(config)
    assert config_from_json(config_to_json(replace(config, weights_from="a"))).weights_from == "a"
