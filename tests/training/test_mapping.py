from dataclasses import replace

import pytest
from PIL import Image

from respawn.errors import ConfigError, VideoError
from respawn.training.mapping import MapOrder, make_map
from respawn.training.trained import load_run, with_world
from respawn.worlds.mario import level_map as level_map_module
from respawn.worlds.recall.config import RecallConfig


@pytest.fixture
def trained(mario_run, tmp_path, monkeypatch):
    monkeypatch.setattr(level_map_module, "user_cache_folder", lambda: tmp_path / "cache")
    return load_run(mario_run)


def test_a_map_of_where_episodes_end(trained, tmp_path):
    made = make_map(trained, trained.config, MapOrder(episodes=5, lanes=2), tmp_path / "map.png")
    assert made.figure == tmp_path / "map.png" and made.level == "1-1"
    assert [ending.end for ending in made.endings] == ["step limit"] * 5
    assert all(ending.x >= 40 and not ending.cleared for ending in made.endings)
    with Image.open(made.figure) as picture:
        assert picture.width > 2000


def test_without_a_name_it_goes_to_the_run(trained):
    made = make_map(trained, with_world(trained.config, level="1-2"), MapOrder(episodes=1))
    assert made.figure == trained.folder.videos / "u00000001-1-2-map.png" and made.figure.is_file()


def test_episodes_that_the_limit_cuts_are_counted_apart(trained, tmp_path):
    order = MapOrder(episodes=2, lanes=2, limit_steps=2)
    with pytest.raises(ConfigError, match=r"none of 2 did within 2 steps; give a higher --limit-steps"):
        make_map(trained, trained.config, order, tmp_path / "map.png")
    made = make_map(trained, trained.config, MapOrder(episodes=1), tmp_path / "map.png")
    assert (len(made.endings), made.unfinished) == (1, 0)


def test_what_has_no_map_is_said(trained, tmp_path):
    with pytest.raises(ConfigError, match="only Mario's levels have maps"):
        make_map(trained, replace(trained.config, world=RecallConfig()), MapOrder())
    several = replace(trained.config.world, levels=("1-1", "1-2"))
    with pytest.raises(ConfigError, match=r"a map is of one level, and this policy plays 1-1, 1-2.*--level"):
        make_map(trained, replace(trained.config, world=several), MapOrder())
    with pytest.raises(VideoError, match=r"written as .png"):
        make_map(trained, trained.config, MapOrder(), tmp_path / "map.jpg")
