"""Settings from a TOML file."""

import pytest

from respawn.cli.main import main
from respawn.errors import ConfigError
from respawn.presets import find_preset
from respawn.training.config_file import with_config_file


def write(tmp_path, text):
    path = tmp_path / "a.toml"
    path.write_text(text)
    return path


def test_what_is_said_replaces_and_the_rest_stays(tmp_path):
    path = write(tmp_path, 'preset = "fish"\nseed = 5\n[world]\nfish = 10\n[world.rewards]\ndeath = 2.0\n')
    config = with_config_file(find_preset("fish"), path)
    assert (config.seed, config.world.fish, config.world.rewards.death) == (5, 10, 2.0)
    assert config.learner == find_preset("fish").learner


def test_what_an_environment_is_given_has_names_of_its_own(tmp_path):
    config = with_config_file(find_preset("cartpole-ppo"), write(tmp_path, "[world.env_kwargs]\ngravity = 3.5\n"))
    assert config.world.env_kwargs == {"gravity": 3.5}


def test_the_experiment_is_the_preset():
    from pathlib import Path

    path = Path(__file__).parents[2] / "experiments" / "0001-fish-v40" / "config.toml"
    assert with_config_file(find_preset("fish-v40"), path) == find_preset("fish-v40")


def test_files_of_starts_are_found_from_the_files_own_folder(tmp_path):
    path = write(tmp_path, '[[schedules.curriculum.hard_starts.stages]]\niterations = 3\nfile = "mine.json"\n')
    stages = with_config_file(find_preset("fish-v40"), path).schedules.curriculum.hard_starts.stages
    assert [stage.file for stage in stages] == [str(tmp_path / "mine.json")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[world]\nfishes = 3", r"there is no setting world\.fishes; did you mean world\.fish\?"),
        ("[learner]\nclp = 0.1", r"there is no setting learner\.clp; did you mean learner\.clip\?"),
        ("[world]\nfish = 'many'", "world.fish wants a number, and 'many' came"),
        ("[[schedules.curriculum.phases]]\nupdates = 9\nsiz = 3", "siz"),
        ("a = [", "is none"),
    ],
)
def test_mistakes_are_named(text, sentence, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        with_config_file(find_preset("fish"), write(tmp_path, text))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--config"], "--config wants a TOML file, and nothing came"),
        (["--config", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["mario", "--config", "FILE"], "is for the preset fish, and mario was asked for"),
    ],
)
def test_on_the_command_line(words, sentence, tmp_path, capsys):
    path = write(tmp_path, 'preset = "fish"')
    assert main(["train", *[str(path) if word == "FILE" else word for word in words]]) == 2
    assert sentence in capsys.readouterr().err
