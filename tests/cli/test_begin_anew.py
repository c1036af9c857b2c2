"""What is offered where a run cannot be resumed: its weights, in a command that works."""

import json
import shlex
import shutil

import pytest

from respawn.cli.begin_anew import words_to_begin_anew
from respawn.runs.layout import RunFolder


@pytest.fixture
def pole(runs):
    return RunFolder(runs / "pole")


def test_what_is_offered_begins_a_run_with_its_weights(respawn, pole, tiny):
    words = words_to_begin_anew(pole)
    assert words == "respawn train cartpole-ppo --weights-from pole"
    answer = respawn(*shlex.split(words)[1:], "--name", "anew", "--updates", "1", *tiny)
    assert answer.exit_code == 0
    assert json.loads((pole.path.parent / "anew/meta.json").read_text())["weights_from"]["run"] == "pole"


def test_where_its_world_or_model_is_not_the_presets_they_are_to_be_given_too(pole):
    recall = words_to_begin_anew(RunFolder(pole.path.parent / "recall"))  # whose core was made smaller
    assert recall == "respawn train memory-gru --weights-from recall and the --world and --model settings that it has"


def test_another_runs_folder_is_named(pole):
    shutil.copytree(pole.path, "elsewhere/pole")
    assert words_to_begin_anew(RunFolder(pole.path.parent.with_name("elsewhere") / "pole")).endswith("--runs elsewhere")


def _edit(folder):
    folder.config.write_text(json.dumps({**json.loads(folder.config.read_text()), "seed": 99}))


def _damage(folder):
    for path in folder.checkpoints.iterdir():
        (path / "clock.json").unlink()


def _no_preset(folder):
    folder.meta.write_text(json.dumps({**json.loads(folder.meta.read_text()), "preset": "of my own"}))


def _odd_preset(folder):
    folder.meta.write_text(json.dumps({**json.loads(folder.meta.read_text()), "preset": 5}))


@pytest.mark.parametrize("damage", [_edit, _damage, _no_preset, _odd_preset, lambda folder: folder.meta.unlink()])
def test_nothing_is_offered_that_would_be_refused_too(pole, damage):
    damage(pole)
    assert words_to_begin_anew(pole) == ""
