"""The Mario world on a game of our own, which needs no ROM."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from fake_play import CAREFUL, make, press

from respawn.errors import CheckpointError, RomError, WorldError
from respawn.testing.suites.saveable import freeze
from respawn.testing.suites.world import check_world
from respawn.worlds.mario import starts
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.cells import Cell
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.world import MarioWorld

SETTINGS = {
    "tiles": MarioConfig(start_jitter=16, sticky=0.25),
    "pixels": MarioConfig(observation="pixels", start_jitter=16, sticky=0.25, picture_size=24),
    "brighter of two": MarioConfig(
        observation="pixels", start_jitter=8, max_of_two=True, frame_stack=2, picture_size=24, limit_steps=35
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


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_a_world(name):
    check_world(lambda num_lanes: make(SETTINGS[name], num_lanes), num_steps=90)


def test_without_a_game_of_ours_a_rom_is_needed():
    starts.open_game.cache_clear()
    with pytest.raises(RomError, match="none here"):
        MarioWorld(MarioConfig(), 1)


class TestStarts:
    def test_every_wait_occurs_and_no_other(self):
        config = replace(CAREFUL, start_jitter=5, limit_steps=1)
        world, waits = make(config, 8), set()
        world.reset(range(8))
        for _ in range(30):
            waits |= {world.waited_frames(lane) for lane in range(8)}
            press(world, config, "NONE")
        assert waits == set(range(6))

    def test_noop_starts_wait_whole_decisions(self):
        config = replace(CAREFUL, noop_starts=3, limit_steps=1)
        world, waits = make(config, 8), set()
        world.reset(range(8))
        for _ in range(30):
            waits |= {world.waited_frames(lane) for lane in range(8)}
            press(world, config, "NONE")
        assert waits == {0, 4, 8, 12}

    def test_every_level_named_is_drawn(self):
        config = replace(CAREFUL, levels=("1-1", "3-2", "8-4"), limit_steps=1)
        world, drawn = make(config, 8), []
        world.reset(range(8))
        for _ in range(40):
            drawn += [episode.facts["level"] for episode in press(world, config, "NONE").episodes]
        shares = [drawn.count(level) / len(drawn) for level in config.levels]
        assert shares == pytest.approx([1 / 3] * 3, abs=0.1)

    def test_seeds_are_one_a_lane(self):
        with pytest.raises(WorldError, match="one seed for each of 2 lanes, got 3"):
            make(CAREFUL, 2).reset([1, 2, 3])


class TestSticky:
    def test_repeats_as_often_as_asked(self):
        config = replace(CAREFUL, sticky=0.25, stall_steps=0, limit_steps=50)
        world, random = make(config, 16), np.random.default_rng(0)
        world.reset(range(16))
        wanted = [BUTTONS["A"], BUTTONS["LEFT"]]
        names = [config.action_names.index(name) for name in ("A", "LEFT")]
        repeated, changes = 0, 0
        before = np.zeros(16, np.uint8)
        for _ in range(150):
            choice = random.integers(2, size=16)
            ended = world.step(torch.tensor([names[one] for one in choice])).episodes
            held = np.array([world.last_buttons(lane) for lane in range(16)])
            asked = np.array([wanted[one] for one in choice])
            assert ((held == asked) | (held == before)).all()
            changed = asked != before
            repeated += (held != asked)[changed].sum()
            changes += changed.sum()
            before = held
            for episode in ended:
                before[episode.lane] = 0
        assert repeated / changes == pytest.approx(0.25, abs=0.03)

    def test_lanes_and_episodes_throw_dice_of_their_own(self):
        config = replace(CAREFUL, sticky=0.5, limit_steps=16, stall_steps=0)
        world = make(config, 2)
        world.reset([1, 2])
        held = [[], []]
        for step in range(64):
            press(world, config, ("A", "LEFT")[step % 2])
            for lane in range(2):
                held[lane].append(world.last_buttons(lane))
        episodes = [tuple(lane[first : first + 16]) for lane in held for first in range(0, 64, 16)]
        assert len(set(episodes)) == 8


class TestState:
    def test_another_number_of_lanes_is_refused(self):
        with pytest.raises(CheckpointError, match="expected the state of 2 lanes, got 3"):
            make(CAREFUL, 2).restore(make(CAREFUL, 3).state())

    def test_consoles_of_another_engine_are_refused(self):
        world = make(CAREFUL, 2)
        state = world.state()
        state["consoles"] = state["consoles"][:, :-4]
        with pytest.raises(CheckpointError, match="not of this engine"):
            world.restore(state)

    def test_large_seeds_survive(self):
        config = replace(CAREFUL, start_jitter=9, sticky=0.3)
        seeds = [2**64 - 1, 2**63, -5]
        world, other = make(config, 3), make(config, 3)
        world.reset(seeds)
        other.restore(world.state())
        for _ in range(60):
            one, two = press(world, config, "RIGHT+A"), press(other, config, "RIGHT+A")
            assert freeze(one.observation) == freeze(two.observation)


class TestPictures:
    def test_show_the_lane_asked_for(self):
        config = replace(CAREFUL, limit_steps=0, stall_steps=0)
        world = make(config, 2)
        world.reset([1, 2])
        world.render(0)
        assert np.array_equal(world.render(0), world.render(1))
        actions = [config.action_names.index(name) for name in ("NONE", "A")]
        world.step(torch.tensor(actions))
        assert world.render(0).shape == (240, 256, 3)
        assert not np.array_equal(world.render(0), world.render(1))

    def test_the_last_step_is_shown_frame_by_frame_even_where_it_ended_an_episode(self):
        config = replace(CAREFUL, limit_steps=3)
        world = make(config)
        world.reset([1])
        world.render(0)
        for _ in range(3):
            result = press(world, config, "A")
        assert result.episodes
        frames = world.last_frames(0)
        assert frames.shape == (4, 240, 256, 3)
        assert all(not np.array_equal(one, two) for one, two in pairwise(frames)), "he jumps"
        assert world.last_buttons(0) == BUTTONS["A"]
        assert not np.array_equal(world.render(0), frames[-1]), "and now he is at the start again"
        assert world.aftermath(0, 5).shape == (5, 240, 256, 3)

    def test_looking_changes_nothing(self):
        config = replace(CAREFUL, observation="pixels", sticky=0.25, start_jitter=8)
        watched, unwatched = make(config), make(config)
        for world in (watched, unwatched):
            world.reset([3])
        for _ in range(40):
            watched.render(0)
            one, two = press(watched, config, "RIGHT+A"), press(unwatched, config, "RIGHT+A")
            watched.last_frames(0)
            assert torch.equal(one.observation, two.observation)


class TestWhatIsThereNow:
    @pytest.mark.parametrize("name", ["tiles", "pixels"])
    def test_creatures_and_cells_are_of_the_moment_whatever_agents_see(self, name):
        config = replace(SETTINGS[name], start_jitter=0, sticky=0.0, limit_steps=20)
        world = make(config)
        world.reset([1])
        at_the_start = int(world.creatures().x[0, 0])
        for step in range(20):
            assert world.creatures().meaning[0, 0] == Cell.ENEMY
            assert world.cells()[0, config.rows_above, config.columns_behind] == Cell.MARIO
            assert world.creatures().dx[0, 0] == world.creatures().x[0, 0] - world.facts().x[0]
            ended = bool(press(world, config, "RIGHT").episodes)
            assert ended == (step == 19)
        assert int(world.creatures().x[0, 0]) == at_the_start, "the lane has begun anew"
