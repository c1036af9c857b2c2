import pytest

from respawn.errors import ConfigError
from respawn.presets import DESCRIPTIONS, all_presets, find_preset
from respawn.training.config import config_from_json, config_to_json


def test_every_preset_is_described_and_every_description_is_of_a_preset():
    assert set(all_presets()) == set(DESCRIPTIONS)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_preset_survives_being_written_and_read(name):
    preset = find_preset(name)
    assert config_from_json(config_to_json(preset)) == preset


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_descriptions_fit_the_help(name):
    assert len(DESCRIPTIONS[name]) <= 57  # 80 columns less the name's


def test_an_unknown_name_is_met_with_a_close_one():
    with pytest.raises(ConfigError, match=r"no preset 'cartpole-pop'; did you mean cartpole-ppo\? The presets are: "):
        find_preset("cartpole-pop")
    with pytest.raises(ConfigError, match="no preset 'chess'; the presets are: mario, "):
        find_preset("chess")
