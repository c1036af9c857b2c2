import json
from dataclasses import replace

import pytest

from respawn.runs.layout import RunFolder
from respawn.runs.metadata import new_meta, write_meta
from respawn.training.config import RunConfig, config_sha256, config_to_json
from respawn.training.surroundings import surroundings_of


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder(tmp_path)
    folder.config.write_text(json.dumps(config_to_json(RunConfig())))
    return folder


def test_settings_are_those_that_decide_numbers(folder):
    around = surroundings_of(folder)
    assert around.config_sha256 == config_sha256(RunConfig()) and around.settings_problem == ""
    assert around.streams["updates"] == folder.updates and "events" not in around.streams


def test_why_settings_cannot_be_used_is_told(folder):
    folder.config.write_text("{")
    around = surroundings_of(folder)
    assert around.config_sha256 is None and "config.json should hold JSON" in around.settings_problem


def test_weights_to_begin_with_that_are_gone_are_told_where_nothing_was_saved(folder):
    config = replace(RunConfig(), weights_from="gone")
    folder.config.write_text(json.dumps(config_to_json(config)))
    write_meta(folder, new_meta("one", "cartpole-ppo", "CartPole-v1", 1))
    assert "the weights that it begins with, of gone, cannot be had again" in surroundings_of(folder).beginning_problem
    (folder.checkpoints / "u00000001").mkdir(parents=True)
    assert surroundings_of(folder).beginning_problem == ""
