"""Settings as options of `respawn train`."""

import shlex

from respawn.cli.arguments import parse
from respawn.sweeps.option_words import option_words
from respawn.training.config import RunConfig


def test_words_are_what_train_understands():
    settings = {
        "planned_updates": 60,
        "minutes": None,
        "model.hidden_sizes": [32, 16],
        "model.separate_value": False,
        "learner.optimizer.learning_rate": 1.2345678901234567e-05,
        "learner.normalise_advantages": True,
        "checkpoints.best_metric": "evaluation/return_max",
    }
    words = option_words(settings)
    config = parse(RunConfig, shlex.split(words), "respawn train", RunConfig(minutes=5.0))
    assert (config.planned_updates, config.minutes, config.model.hidden_sizes) == (60, None, (32, 16))
    assert (config.model.separate_value, config.learner.normalise_advantages) == (False, True)
    assert config.learner.optimizer.learning_rate == 1.2345678901234567e-05
    assert config.checkpoints.best_metric == "evaluation/return_max"


def test_a_path_with_a_space_stays_one_word():
    assert option_words({"world.rom": "/my games/smb.nes"}) == "--world.rom '/my games/smb.nes'"


def test_what_has_no_option_belongs_in_a_file():
    assert option_words({"schedules.windows": [{"knob": "clip"}], "seed": 1}) is None
    assert option_words({"world.env_kwargs.map_name": "8x8"}) is None
    assert option_words({"schedules.windows": []}) is None
