"""What schedules decide for the world holds in the rollouts that are gathered from then on, whoever gathers."""

from dataclasses import replace

import pytest
import torch
from heard_runs import LANES, STILL, gathered_with, small_run, ways

from respawn.errors import ConfigError, KnobError
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.windows import KnobWindow
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig

UPDATES = 4
WAYS = ways(replace(LANES, horizon_steps=12))
every_way = pytest.mark.parametrize("way", WAYS)
SHORT = MarioConfig(levels=("1-1", "1-2"), actions="right", limit_steps=6)
"""Every lane's episode ends twice in a rollout, the second time with it."""
TANK = FishConfig(fish=4, limit_steps=6, spawn_radius=8.0)
"""So does a school's."""


def in_world(world, way, *windows, curriculum=None):
    return small_run(UPDATES, WAYS[way], world=world, schedules=replace(STILL, windows=windows, curriculum=curriculum))


@every_way
def test_the_window_of_levels_decides_where_episodes_begin(way, train):
    one_then_two = KnobWindow("last_level", first=1, last=2, value=1), KnobWindow("first_level", first=3, value=2)

    def levels(*windows):
        heard = train(in_world(SHORT, way, *windows))
        return [{episode.facts["level"] for episode in rollout.episodes} for rollout in heard.rollouts]

    assert levels() == [{"1-1", "1-2"}] * UPDATES
    assert levels(*one_then_two) == gathered_with([{"1-1"}, {"1-1"}, {"1-2"}, {"1-2"}], way)


def test_where_there_is_one_level_there_is_no_window_of_levels(train):
    with pytest.raises((ConfigError, KnobError), match="last_level"):
        train(in_world(replace(SHORT, levels=("1-1",)), "sync", KnobWindow("last_level", first=1, value=1)))


@every_way
@pytest.mark.parametrize("world", ["mario", "fish"])
@pytest.mark.parametrize(
    ("share", "final_fraction", "shares"),
    [(0.0, 1.0, [0.0] * 4), (0.5, 1.0, [0.5] * 4), (1.0, 1.0, [1.0] * 4), (1.0, 0.0, [1.0, 0.75, 0.5, 0.25])],
)
def test_the_share_of_hard_starts_is_the_share_of_episodes(
    share, final_fraction, shares, world, way, train, starts_of_mario
):
    stage = HardStartStage(UPDATES, starts_of_mario) if world == "mario" else HardStartStage(UPDATES, "v34-ne")
    hard_starts = HardStartsConfig(stages=(stage,), share=share, final_fraction=final_fraction)
    config = in_world(SHORT if world == "mario" else TANK, way, curriculum=CurriculumConfig(hard_starts=hard_starts))
    heard = train(config)
    dealt = [rollout.counts.get("hard_starts", 0.0) / len(rollout.episodes) for rollout in heard.rollouts]
    assert dealt == pytest.approx(gathered_with(shares, way))
    assert [row.get("world/hard_starts", 0.0) for row in heard.rows] == [
        rollout.counts.get("hard_starts", 0.0) for rollout in heard.rollouts
    ]
    hard = [episode.facts["hard_start"] for rollout in heard.rollouts for episode in rollout.episodes]
    assert (sum(hard) > 0) == (share > 0)


@pytest.mark.parametrize("world", [SHORT, TANK])
def test_a_share_of_no_hard_starts_is_refused(world, train):
    with pytest.raises(ConfigError, match="there are no hard starts"):
        train(in_world(world, "sync", KnobWindow("hard_start_share", first=1, value=0.5)))


def test_a_boost_that_no_fish_begins_with_is_refused(train):
    world = replace(TANK, escape_boost=False)
    with pytest.raises(ConfigError, match="'escape_boost', which nothing consumes"):
        train(in_world(world, "sync", KnobWindow("escape_boost", first=1, value=0.1)))


@every_way
def test_the_size_of_a_school_is_who_is_there(way, train):
    heard = train(in_world(TANK, way, KnobWindow("school_size", first=2, last=3, value=3)))
    present = [rollout.valid[[0, 6]].sum(1).tolist() for rollout in heard.rollouts]  # where episodes begin
    assert present == gathered_with([[8, 8], [6, 6], [6, 6], [8, 8]], way)


@every_way
def test_the_boost_is_how_fast_fish_begin(way, train):
    """Of a rollout's two episodes the first begins with the last step of the rollout before."""
    boosts = [0.8, 0.3, 0.3, 0.0]
    windows = KnobWindow("escape_boost", first=2, last=3, value=0.3), KnobWindow("escape_boost", first=4, value=0.0)
    plain, turned = train(in_world(TANK, way)), train(in_world(TANK, way, *windows))

    def speeds(heard):
        return [rollout.observations[6, :, 2:4].norm(dim=-1) for rollout in heard.rollouts]

    for usual, speed, boost in zip(speeds(plain), speeds(turned), gathered_with(boosts, way), strict=True):
        torch.testing.assert_close(usual, torch.full((8,), 0.8))
        torch.testing.assert_close(speed, torch.full((8,), boost))
