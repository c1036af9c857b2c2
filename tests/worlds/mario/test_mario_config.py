import pytest

from respawn.errors import ConfigError
from respawn.worlds.mario.config import REWARDS, MarioConfig, RewardConfig
from respawn.worlds.mario.levels import ALL_LEVELS


def test_what_follows_from_the_settings():
    config = MarioConfig(levels=("all",), start_jitter=16, noop_starts=3, frame_skip=5, buttons=("A", "B"))
    assert config.start_levels == ALL_LEVELS
    assert config.most_waiting_frames == 31
    assert config.action_names == ("A", "B")
    assert MarioConfig(actions="right").action_names[1] == "RIGHT"


def test_the_seeds_rewards_are_its_formula():
    seed = REWARDS["seed"]
    assert (seed.score, seed.distance, seed.scale, seed.flag, seed.death) == (1.0, 1 / 80, 0.2, 5.0, -5.0)
    assert (seed.time, seed.milestone) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"levels": ("1-9",)}, "'1-9' is none"),
        ({"buttons": ("A",)}, "at least two actions"),
        ({"observation": "tile"}, "world.observation must be one of tiles, pixels, not 'tile'"),
        ({"region": "NTSC"}, "world.region must be one of ntsc, pal, not 'NTSC'"),
        ({"frame_skip": 0}, "world.frame-skip must be"),
        ({"sticky": 1.0}, "world.sticky must be"),
        ({"sticky": -0.1}, "world.sticky must be"),
        ({"start_jitter": -1}, "world.start-jitter must be"),
        ({"noop_starts": 61}, "world.noop-starts must be"),
        ({"stall_steps": -1}, "world.stall-steps must be"),
        ({"limit_steps": -1}, "world.limit-steps must be"),
        ({"picture_size": 8}, "world.picture-size must be"),
        ({"frame_stack": 0}, "world.frame-stack must be"),
        ({"columns_ahead": 15}, "world.columns-ahead must be"),
        ({"whole_game": True, "levels": ("1-1", "1-2")}, "begins in one level and goes on from there, and 2 are named"),
    ],
)
def test_what_cannot_be_played_is_refused(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        MarioConfig(**settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"flag": float("nan")}, "world.rewards.flag must be"),
        ({"distance": float("inf")}, "world.rewards.distance must be"),
        ({"milestone_pixels": 0}, "world.rewards.milestone-pixels must be"),
    ],
)
def test_what_cannot_be_added_up_is_refused(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        RewardConfig(**settings)
