"""The Mario world on the game itself: what ends an episode, where levels begin, what a maze does."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from memories import watched
from staged import StagedGame, both, fly_to, poke

from respawn.checkpoints.codec import decode, encode
from respawn.errors import ConfigError
from respawn.testing.suites.saveable import freeze
from respawn.testing.suites.world import check_world, draw_actions
from respawn.worlds.mario import ram
from respawn.worlds.mario.config import REWARDS, MarioConfig, RewardConfig
from respawn.worlds.mario.levels import ALL_LEVELS
from respawn.worlds.mario.ram import read_facts
from respawn.worlds.mario.starts import CartridgeGame, begin_level
from respawn.worlds.mario.world import MarioWorld

COMPLEX = MarioConfig(actions="complex")
ONLY_DISTANCE = RewardConfig(distance=1.0, score=0.0, time=0.0, flag=0.0, death=0.0, milestone=0.0, scale=1.0)
START_X = 40
AT_THE_PIT, AT_THE_POLE = fly_to(1060, 160), fly_to(3140, 90)
AT_THE_AXE, AT_THE_LAST_AXE = fly_to(2240, 90, unhurt=True), fly_to(4800, 90, unhurt=True, past_mazes=True)
ON_A_WARP_PIPE, ON_A_PIPE = fly_to(2984, 110, unhurt=True), fly_to(920, 100)
IN_THE_WRONG_LANE, IN_THE_RIGHT_LANE = fly_to(900, 100), fly_to(900, 60)
ON_A_WRONG_PIPE = fly_to(822, 136, past_mazes=True, unhurt=True)
ALMOST_LATE = poke({ram.TIME_DIGITS: 0, ram.TIME_DIGITS + 1: 0, ram.TIME_DIGITS + 2: 3})
LAST_LIFE = poke({ram.LIVES: 0})


def nothing_changed(console):
    """As the level begins."""


def make(config, scene=nothing_changed, num_lanes=1):
    return MarioWorld(config, num_lanes, game=StagedGame(scene))


def make_and_reset(config, scene=nothing_changed):
    world = make(config, scene)
    world.reset([1])
    return world


def play(world, config, *names, most_steps=600):
    """Buttons in turn, the last one on and on, until an episode ends; its results, the last one first."""
    results = []
    for step in range(most_steps):
        action = config.action_names.index(names[min(step, len(names) - 1)])
        results.insert(0, world.step(torch.full((world.spec.num_lanes,), action)))
        if results[0].episodes:
            break
    return results


class TestEnds:
    @pytest.mark.parametrize(
        ("end", "level", "scene", "buttons", "changes"),
        [
            ("death", "1-1", nothing_changed, "RIGHT", {}),  # the first goomba
            ("pit", "1-1", AT_THE_PIT, "RIGHT", {}),
            ("flag", "1-1", AT_THE_POLE, "RIGHT+B", {}),
            ("flag", "1-4", AT_THE_AXE, "RIGHT", {}),
            ("won", "8-4", AT_THE_LAST_AXE, "RIGHT", {}),
            ("won", "8-4", AT_THE_LAST_AXE, "RIGHT", {"whole_game": True}),
            ("time", "1-1", ALMOST_LATE, "NONE", {}),
            ("stall", "1-1", nothing_changed, "NONE", {"stall_steps": 20}),
            ("step limit", "1-1", nothing_changed, "NONE", {"limit_steps": 20}),
            ("game over", "1-1", LAST_LIFE, "RIGHT", {"whole_game": True}),
            ("warp", "1-2", ON_A_WARP_PIPE, "DOWN", {}),
            ("loop", "4-4", IN_THE_WRONG_LANE, "RIGHT+B", {"maze_ends": True}),
            ("loop", "8-4", ON_A_WRONG_PIPE, "DOWN", {"maze_ends": True}),
        ],
    )
    def test_each_has_its_reason_and_restarts(self, end, level, scene, buttons, changes):
        config = replace(COMPLEX, levels=(level,), **changes)
        world = make(config, scene)
        start = world.reset([1]).clone()
        before = freeze(world.facts().state())
        last = play(world, config, buttons)[0]
        assert [episode.end for episode in last.episodes] == [end]
        cut = end in {"stall", "step limit"}
        assert (last.terminated.tolist(), last.truncated.tolist()) == ([not cut], [cut])
        assert last.episodes[0].facts["cleared"] == (end in {"flag", "won"})
        assert len(last.cut_observations) == cut
        assert freeze(world.facts().state()) == before, "the console is at the start again"
        assert torch.equal(last.observation, start)
        again = play(world, config, buttons)[0]
        assert again.episodes == last.episodes, "and the same happens again"

    @pytest.mark.parametrize("observation", ["tiles", "pixels"])
    def test_what_was_seen_last_is_not_the_next_start(self, observation):
        config = replace(COMPLEX, observation=observation, limit_steps=12)
        world, longer = make(config), make(replace(config, limit_steps=0))
        start = world.reset([1]).clone()
        longer.reset([1])
        last = play(world, config, "RIGHT+A")[0]
        for _ in range(12):
            straight = play(longer, config, "RIGHT+A", most_steps=1)[0]
        assert torch.equal(last.cut_observations, straight.observation)
        assert torch.equal(world.final_observations(), straight.observation)
        assert torch.equal(last.observation, start)
        assert not torch.equal(last.cut_observations, start)

    def test_a_pipe_leads_on_and_pays_no_distance(self):
        config = replace(COMPLEX, rewards=ONLY_DISTANCE, limit_steps=40)
        world = make(config, ON_A_PIPE)
        world.reset([1])
        x, layout = world.facts().x[0], world.facts().layout[0]
        results = play(world, config, *["NONE"] * 13, *["DOWN"] * 3, "NONE")
        assert results[0].episodes[0].end == "step limit"
        assert world.final_facts().layout[0] != layout
        assert world.final_facts().x[0] < x - 500
        assert results[0].episodes[0].episode_return == 0.0
        assert results[0].episodes[0].facts["loops"] == 0.0


class TestFalls:
    def test_what_a_fall_covered_is_not_paid(self):
        config = replace(COMPLEX, rewards=ONLY_DISTANCE)
        world = make_and_reset(config, AT_THE_PIT)
        first = last_stood = int(world.facts().x[0])
        while not (result := play(world, config, "RIGHT+B", most_steps=1)[0]).episodes:
            if world.facts().float_state[0] == ram.ON_GROUND:
                last_stood = int(world.facts().x[0])
        fell = result.episodes[0]
        assert (fell.end, fell.episode_return) == ("pit", last_stood - first)
        paying = replace(config, rewards=replace(ONLY_DISTANCE, falls_pay=True))
        kept = play(make_and_reset(paying, AT_THE_PIT), paying, "RIGHT+B")[0].episodes[0]
        assert kept.episode_return == fell.facts["end_x"] - first > fell.episode_return

    @pytest.mark.parametrize("skip_cutscenes", [True, False])
    def test_under_the_picture_he_falls_on_for_nothing(self, skip_cutscenes):
        rewards = replace(ONLY_DISTANCE, death=-1_000.0, milestone=10_000.0, milestone_pixels=16)
        config = replace(COMPLEX, rewards=rewards, whole_game=True, skip_cutscenes=skip_cutscenes)
        world = make_and_reset(config, AT_THE_PIT)
        action = config.action_names.index("RIGHT+B")
        steps = []
        while world.facts().lives[0] == 3:
            steps.append(float(world.step(torch.tensor([action])).reward[0]))
        death = min(range(len(steps)), key=steps.__getitem__)
        assert steps[death] < -900.0
        assert not any(steps[death + 1 :])
        assert (len(steps) - death - 1 < 3) == skip_cutscenes, "nothing is decided while he falls on"


class TestWholeGame:
    def test_the_next_life_begins_where_the_level_does(self):
        config = replace(COMPLEX, whole_game=True)
        world = make(config)
        world.reset([1])
        lives = []
        for _ in range(400):
            result = play(world, config, "RIGHT", most_steps=1)[0]
            lives.append(int(world.final_facts().lives[0]))
            if result.episodes:
                break
        assert sorted(set(lives)) == [0, 1, 2, 3]
        assert lives == sorted(lives, reverse=True)
        assert result.episodes[0].end == "game over"
        assert world.facts().lives[0] == 3

    def test_how_far_it_came_is_the_same_whether_cutscenes_are_skipped(self):
        told = []
        for skip_cutscenes in (True, False):
            config = replace(COMPLEX, levels=("5-3",), whole_game=True, skip_cutscenes=skip_cutscenes)
            world = make_and_reset(config)
            told.append(play(world, config, "RIGHT+B", most_steps=1_000)[0].episodes[0])
        assert [episode.end for episode in told] == ["game over", "game over"]
        assert told[0].facts["x"] == told[1].facts["x"]

    @pytest.mark.parametrize(("level", "scene"), [("1-1", AT_THE_POLE), ("1-4", AT_THE_AXE)])
    def test_a_scene_that_is_watched_is_no_stall(self, level, scene):
        config = replace(COMPLEX, levels=(level,), whole_game=True, skip_cutscenes=False, frame_skip=2, limit_steps=700)
        world = make_and_reset(config, scene)
        episode = play(world, config, *["RIGHT+B"] * 24, "NONE", most_steps=700)[0].episodes[0]
        assert (episode.facts["flags"], episode.facts["reached"]) == (1.0, "1-2" if level == "1-1" else "2-1")

    @pytest.mark.parametrize(("level", "scene", "following"), [("1-1", AT_THE_POLE, "1-2"), ("1-4", AT_THE_AXE, "2-1")])
    def test_the_next_level_follows_a_flag(self, level, scene, following):
        config = replace(COMPLEX, levels=(level,), whole_game=True, limit_steps=60)
        world = make(config, scene)
        world.reset([1])
        episode = play(world, config, *["RIGHT+B"] * 12, "NONE")[0].episodes[0]
        assert (episode.end, episode.facts["flags"], episode.facts["reached"]) == ("step limit", 1.0, following)


class TestMazes:
    def test_a_wrong_turn_is_told_and_pays_nothing_twice(self):
        config = replace(COMPLEX, levels=("4-4",), rewards=ONLY_DISTANCE, limit_steps=60, stall_steps=0)
        world = make(config, IN_THE_WRONG_LANE)
        world.reset([1])
        begun, seen = int(world.facts().x[0]), []
        results = []
        for _ in range(60):
            results += play(world, config, "RIGHT+B", most_steps=1)
            seen.append(int(world.final_facts().x[0]))
        falls = [before - after for before, after in pairwise([begun, *seen]) if after < before - 900]
        assert len(falls) == 1 and abs(falls[0] - ram.MAZE_WARP_PIXELS) <= 24
        episode = results[-1].episodes[0]
        assert episode.facts["loops"] == 1.0
        assert episode.facts["x"] == max(seen[seen.index(min(seen)) :]), "the furthest place after the fall"
        assert episode.episode_return == pytest.approx(max(seen) - begun, abs=12)
        assert min(seen) >= -256

    def test_a_wrong_pipe_is_told_and_pays_nothing_twice(self):
        config = replace(COMPLEX, levels=("8-4",), rewards=ONLY_DISTANCE, limit_steps=40)
        world = make(config, ON_A_WRONG_PIPE)
        world.reset([1])
        begun = int(world.facts().x[0])
        episode = play(world, config, *["DOWN"] * 10, "RIGHT+B")[0].episodes[0]
        assert (episode.end, episode.facts["loops"]) == ("step limit", 1.0)
        assert 312 < episode.facts["x"] < begun
        assert episode.episode_return == 0.0

    def test_the_right_lane_leads_on(self):
        config = replace(COMPLEX, levels=("4-4",), limit_steps=60)
        world = make(config, IN_THE_RIGHT_LANE)
        world.reset([1])
        episode = play(world, config, "RIGHT+B")[0].episodes[0]
        assert episode.facts["loops"] == 0.0
        assert episode.facts["x"] > 1_200


class TestRewards:
    def test_the_seeds_formula_holds_at_every_step(self):
        config = MarioConfig(actions="right", rewards=REWARDS["seed"])
        world = make(config)
        world.reset([1])
        generator, ends = torch.Generator().manual_seed(3), 0
        for _ in range(300):
            x, score = int(world.facts().x[0]), int(world.facts().score[0])
            result = world.step(draw_actions(world.spec, generator))
            after = world.final_facts()
            raw = int(after.score[0]) - score + (int(after.x[0]) - x) / 80
            expected = 0.2 * raw + (-5.0 if result.terminated[0] else 0.0)
            assert float(result.reward[0]) == pytest.approx(expected, abs=1e-5)
            ends += bool(result.terminated[0])
        assert ends


class TestStarts:
    @pytest.mark.parametrize("level", ALL_LEVELS, ids=str)
    def test_mario_obeys_where_the_level_begins(self, level):
        console = begin_level(StagedGame()._cartridge, level)
        rows = watched(console.ram())
        facts = read_facts(rows)
        under_water = (level.world, level.stage) in {(2, 2), (7, 2)}
        underground = (level.world, level.stage) in {(1, 2), (4, 2)}
        kind = 3 if level.stage == 4 else 0 if under_water else 2 if underground else 1
        assert (facts.world[0], facts.stage[0]) == (level.world, level.stage)
        assert facts.task[0] == ram.TASK_CONTROLLED
        assert facts.time[0] in {300, 400}
        assert rows[0, ram.WATCHED.index(ram.AREA_KIND)] == kind
        assert (facts.x[0], facts.lives[0], facts.power[0], facts.score[0]) == (START_X, 3, 0, 0)
        before = facts.x[0]
        for _ in range(40):
            console.frame(0x80)
        assert read_facts(watched(console.ram())).x[0] > before

    def test_waiting_for_an_enemy_is_refused(self):
        game = CartridgeGame(StagedGame()._cartridge)
        with pytest.raises(ConfigError, match=r"up to 480 frames, and in 1-2 an enemy gets him after \d+; lower them"):
            MarioWorld(replace(COMPLEX, levels=("1-1", "1-2"), start_jitter=240, noop_starts=60), 1, game=game)

    def test_waiting_is_standing_still(self):
        game = CartridgeGame(StagedGame()._cartridge)
        starts = game.level_starts(ALL_LEVELS[0], 6, 84)
        assert len({state.tobytes() for state in starts.states}) == 7
        config = replace(COMPLEX, start_jitter=6, limit_steps=1)
        world = MarioWorld(config, 4, game=game)
        world.reset([1, 2, 3, 4])
        waits = set()
        for _ in range(25):
            waits |= {world.waited_frames(lane) for lane in range(4)}
            assert (world.facts().x == START_X).all()
            play(world, config, "NONE", most_steps=1)
        assert waits == set(range(7))


class TestWorld:
    @pytest.mark.parametrize("observation", ["tiles", "pixels"])
    def test_it_is_a_world(self, observation):
        game = CartridgeGame(StagedGame()._cartridge)
        config = MarioConfig(
            levels=("1-1", "1-4"), observation=observation, sticky=0.25, start_jitter=8, noop_starts=2, limit_steps=60
        )
        check_world(lambda num_lanes: MarioWorld(config, num_lanes, game=game), num_steps=100)

    @pytest.mark.parametrize("observation", ["tiles", "pixels"])
    def test_resumed_in_the_middle_of_an_episode_it_goes_on_exactly(self, observation):
        game = CartridgeGame(StagedGame()._cartridge)
        config = MarioConfig(levels=("1-1", "1-2"), observation=observation, sticky=0.25, start_jitter=16)
        world, fresh = (MarioWorld(config, 4, game=game) for _ in range(2))
        world.reset([1, 2, 3, 4])
        generator = torch.Generator().manual_seed(1)
        for _ in range(77):
            world.step(draw_actions(world.spec, generator))
        fresh.restore(decode(encode(world.state())))
        ended = 0
        for _ in range(300):
            actions = draw_actions(world.spec, generator)
            one, two = world.step(actions), fresh.step(actions)
            for name in ("observation", "reward", "terminated", "truncated", "cut_observations"):
                assert torch.equal(getattr(one, name), getattr(two, name)), name
            assert one.episodes == two.episodes
            ended += len(one.episodes)
        assert ended
        assert np.array_equal(world.render(0), fresh.render(0))


class TestScenes:
    def test_can_be_joined(self):
        world = make(replace(COMPLEX), both(AT_THE_PIT, LAST_LIFE))
        assert (world.facts().x[0] >= 1060, world.facts().lives[0]) == (True, 1)
