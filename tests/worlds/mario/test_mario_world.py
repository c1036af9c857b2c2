"""The Mario world on a game of our own, which needs no ROM."""

import pytest

from respawn.errors import RomError
from respawn.testing.fake_console import FakeGame
from respawn.testing.suites.world import check_world
from respawn.worlds.mario import starts
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.world import MarioWorld

SETTINGS = {
    "tiles": MarioConfig(start_jitter=16, sticky=0.25),
    "pixels": MarioConfig(observation="pixels", start_jitter=16, sticky=0.25, picture_size=24),
    "brighter of two": MarioConfig(
        observation="pixels", start_jitter=8, max_of_two=True, frame_stack=2, picture_size=24, stall_steps=20
    ),
    "several levels": MarioConfig(levels=("1-1", "1-2", "4-4"), noop_starts=5, actions="complex", stall_steps=20),
    "whole game": MarioConfig(whole_game=True, start_jitter=16, limit_steps=45),
    "cut short": MarioConfig(start_jitter=16, stall_steps=15, limit_steps=40),
}


@pytest.fixture(autouse=True)
def no_rom(monkeypatch):
    """These tests run where no game is."""

    def refuse(*_, **__):
        raise RomError("there is none here")

    monkeypatch.setattr(starts, "find_rom", refuse)


def make(config, num_lanes=1):
    return MarioWorld(config, num_lanes, game=FakeGame())


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_a_world(name):
    check_world(lambda num_lanes: make(SETTINGS[name], num_lanes), num_steps=90)


def test_without_a_game_of_ours_a_rom_is_needed():
    starts.open_game.cache_clear()
    with pytest.raises(RomError, match="none here"):
        MarioWorld(MarioConfig(), 1)
