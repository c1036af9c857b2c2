import json

import pytest

from respawn.runs.layout import RunFolder
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
