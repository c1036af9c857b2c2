from dataclasses import replace

import pytest
from PIL import Image

from respawn.errors import ConfigError, VideoError
from respawn.evaluation.levels import GREEDY, SAMPLED
from respawn.evaluation.plots.level_map import endings_of
from respawn.training import mapping
from respawn.training.judge_levels import LevelTrials, judge_levels
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


def test_the_name_tells_what_is_shown(trained):
    sticky = with_world(trained.config, level="1-2", sticky=0.25)
    made = make_map(trained, sticky, MapOrder(episodes=1, greedy=False))
    assert made.figure.name == "u00000001-1-2-map-sticky0.25-sampled.png" and not made.replaced
    assert make_map(trained, sticky, MapOrder(episodes=1, greedy=False)).replaced


@pytest.mark.parametrize("how", [GREEDY, SAMPLED])
def test_a_map_shows_the_episodes_that_evaluate_judges(trained, tmp_path, how):
    config = with_world(trained.config, level="1-2", sticky=0.25, start_jitter=16)
    made = make_map(trained, config, MapOrder(episodes=4, greedy=how == GREEDY), tmp_path / "map.png")
    trials = LevelTrials(levels=("1-2",), episodes=4, sticky=0.25, start_jitter=16, nulls=False)
    judged = judge_levels(trained, trials).levels["1-2"]
    assert list(made.seeds) == list(judged.seeds) == list(range(3_010_000, 3_010_004))
    assert list(made.endings) == endings_of(judged.episodes[how])


def test_a_place_that_cannot_be_written_is_said_before_anything_is_played(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(mapping, "play_level", lambda *given, **more: pytest.fail("it was played"))
    (tmp_path / "file").write_text("here")
    with pytest.raises(VideoError, match=r"map.png cannot be written"):
        make_map(trained, trained.config, MapOrder(episodes=1), tmp_path / "file" / "map.png")


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
