"""The Mario world's rules on a game of our own, which needs no ROM: ends, whole games, mazes, rewards."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from fake_play import (
    CAREFUL,
    enter_the_pipe,
    jump_then_stroll,
    make,
    play,
    press,
    run_and_jump,
    run_and_walk,
    stand,
    stroll,
)

from respawn.contracts.knobs import Knobs
from respawn.testing.fake_console import FORK_X, GOAL_X, START_X, enemy_x
from respawn.worlds.mario.config import EPISODE_NUMBERS, REWARDS, RewardConfig
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.limits import ENDS

NOTHING = RewardConfig(distance=0.0, score=0.0, time=0.0, flag=0.0, death=0.0, milestone=0.0, scale=1.0)


class TestEnds:
    @pytest.mark.parametrize(
        ("end", "choose", "changes"),
        [
            ("death", stroll, {}),
            ("pit", jump_then_stroll, {}),
            ("flag", run_and_jump, {}),
            ("flag", run_and_jump, {"levels": ("1-4",)}),
            ("won", run_and_jump, {"levels": ("8-4",)}),
            ("time", stand, {"stall_steps": 0, "limit_steps": 0, "frame_skip": 24}),
            ("stall", stand, {"stall_steps": 30}),
            ("step limit", stand, {"limit_steps": 30}),
            ("warp", enter_the_pipe, {"levels": ("1-2",)}),
            ("loop", run_and_walk, {"levels": ("4-4",), "maze_ends": True}),
            ("game over", stroll, {"whole_game": True}),
            ("won", run_and_jump, {"levels": ("8-4",), "whole_game": True}),
        ],
    )
    def test_each_has_its_reason_and_restarts(self, end, choose, changes):
        config = replace(CAREFUL, **changes)
        world, (last, *_) = play(config, choose)
        assert [episode.end for episode in last.episodes] == [end]
        cut = end in {"stall", "step limit"}
        assert last.truncated.tolist() == [cut]
        assert last.terminated.tolist() == [not cut]
        assert len(last.cut_observations) == cut
        assert world.facts().x.tolist() == [START_X]
        assert world.facts().lives.tolist() == [3]
        assert torch.equal(last.observation, world.reset([1]))
        facts = last.episodes[0].facts
        assert facts["level"] == config.levels[0]
        assert facts["cleared"] == (end in {"flag", "won"})
        assert set(facts) == {*EPISODE_NUMBERS, "level", "reached"}

    def test_every_end_is_tested(self):
        marks = next(mark for mark in self.test_each_has_its_reason_and_restarts.pytestmark)
        assert {case[0] for case in marks.args[1]} == set(ENDS)

    @pytest.mark.parametrize("observation", ["tiles", "pixels"])
    @pytest.mark.parametrize(("choose", "changes"), [(stand, {"limit_steps": 30}), (stroll, {})], ids=["cut", "ended"])
    def test_the_last_thing_seen_is_not_the_next_start(self, observation, choose, changes):
        config = replace(CAREFUL, observation=observation, **changes)
        world, (last, *_) = play(config, choose)
        free = replace(config, limit_steps=0)
        straight, seen = make(free), None
        straight.reset([1])
        for _ in range(last.episodes[0].length):
            seen = press(straight, free, choose(straight.facts()))
        expected = straight.final_observations() if seen.episodes else seen.observation
        assert torch.equal(world.final_observations(), expected)
        assert not torch.equal(world.final_observations(), last.observation)
        if last.truncated[0]:
            assert torch.equal(last.cut_observations, expected)

    def test_lanes_end_alone(self):
        config = replace(CAREFUL, limit_steps=0, stall_steps=0)
        world = make(config, 3)
        world.reset([1, 2, 3])
        actions = [config.action_names.index(name) for name in ("NONE", "RIGHT", "NONE")]
        while not (result := world.step(torch.tensor(actions))).episodes:
            seen = result.observation.clone()
        assert [episode.lane for episode in result.episodes] == [1]
        assert result.terminated.tolist() == [False, True, False]
        assert torch.allclose(result.observation[[0, 2]], seen[[0, 2]], atol=0.3), "the others go on"
        assert world.facts().x.tolist() == [START_X] * 3


class TestWholeGame:
    def test_goes_on_with_the_next_level_after_a_flag(self):
        config = replace(CAREFUL, whole_game=True, limit_steps=400, rewards=replace(NOTHING, flag=1.0, time=-1.0))
        world = make(config)
        world.reset([1])
        rewards = 0.0
        while world.facts().stage[0] == 1:
            result = press(world, config, run_and_jump(world.facts()))
            assert not result.episodes
            rewards += float(result.reward[0])
        assert (world.facts().world[0], world.facts().x[0]) == (1, START_X)
        while not (result := press(world, config, "NONE")).episodes:
            pass
        facts = result.episodes[0].facts
        assert facts["flags"] == 1.0
        assert facts["reached"] == "1-2"
        assert facts["level"] == "1-1"

    def test_a_life_lost_pays_once_and_the_next_one_begins(self):
        config = replace(CAREFUL, whole_game=True, rewards=replace(NOTHING, death=-1.0))
        _, results = play(config, stroll)
        deaths = [float(result.reward[0]) for result in results if result.reward[0]]
        assert deaths == [-1.0] * 3
        assert results[0].episodes[0].end == "game over"

    def test_the_clock_that_is_counted_off_after_a_flag_costs_nothing(self):
        config = replace(CAREFUL, rewards=replace(NOTHING, time=-1.0), whole_game=True, limit_steps=60)
        _, results = play(config, stand)
        spent = 400 - results[0].episodes[0].facts["time_left"]
        assert sum(float(result.reward[0]) for result in results) == -spent


class TestMazes:
    def test_a_loop_is_no_progress_and_pays_nothing_twice(self):
        config = replace(
            CAREFUL, levels=("4-4",), stall_steps=0, limit_steps=400, rewards=replace(NOTHING, distance=1.0)
        )
        thrown = []

        def walk_once(facts):
            thrown.append(facts.x[0])
            back = len(thrown) > 1 and thrown[-1] < thrown[-2] - 900
            walk_once.thrown |= bool(back)
            return "NONE" if walk_once.thrown else run_and_walk(facts)

        walk_once.thrown = False
        _, results = play(config, walk_once)
        episode = results[0].episodes[0]
        assert episode.facts["loops"] == 1.0
        assert episode.facts["x"] < FORK_X - 900, "the furthest place is where Mario is, after he was thrown back"
        assert episode.episode_return == pytest.approx(max(thrown) - START_X, abs=16)

        _, again = play(replace(config, limit_steps=700), run_and_walk)
        twice = again[0].episodes[0]
        assert twice.facts["loops"] >= 2.0
        assert twice.episode_return == pytest.approx(max(thrown) - START_X, abs=16)

    def test_past_the_fork_the_goal_is_reached_and_ground_pays_once(self):
        config = replace(CAREFUL, levels=("7-4",), rewards=replace(NOTHING, distance=1.0))
        loops = []

        def second_time(facts):
            loops.append(facts.x[0])
            looped = any(after < before - 900 for before, after in pairwise(loops))
            return run_and_jump(facts) if looped else run_and_walk(facts)

        _, results = play(config, second_time)
        episode = results[0].episodes[0]
        assert episode.end == "flag"
        assert episode.facts["loops"] == 1.0
        assert episode.facts["x"] == pytest.approx(GOAL_X, abs=16)
        assert episode.episode_return == pytest.approx(GOAL_X - START_X, abs=16)

    def test_another_area_pays_no_distance(self):
        config = replace(CAREFUL, limit_steps=200, stall_steps=0, rewards=replace(NOTHING, distance=1.0))
        entered = []

        def enter_and_stand(facts):
            entered.append(int(facts.x[0]))
            return "NONE" if facts.area[0] else enter_the_pipe(facts)

        _, results = play(config, enter_and_stand)
        episode = results[0].episodes[0]
        assert episode.facts["end_x"] == START_X
        assert episode.episode_return == pytest.approx(max(entered) - START_X, abs=8)
        assert episode.facts["x"] == episode.episode_return + START_X


class TestRewards:
    @pytest.mark.parametrize(
        ("item", "choose", "counted"),
        [
            ("distance", run_and_jump, lambda facts: facts["end_x"] - START_X),
            ("time", stand, lambda facts: 400 - facts["time_left"]),
            ("flag", run_and_jump, lambda facts: 1),
            ("death", stroll, lambda facts: 1),
            ("milestone", run_and_jump, lambda facts: (facts["end_x"] - START_X) // 256),
        ],
    )
    def test_each_item_pays_for_what_it_names(self, item, choose, counted):
        config = replace(CAREFUL, rewards=replace(NOTHING, **{item: 3.0}))
        _, results = play(config, choose)
        episode = results[0].episodes[0]
        assert episode.episode_return == pytest.approx(3.0 * counted(episode.facts))
        assert counted(episode.facts) > 0

    def test_points_pay_when_they_are_scored(self):
        config = replace(CAREFUL, rewards=replace(NOTHING, score=0.5))

        def stomp(facts):
            return "RIGHT+A" if facts.x[0] >= enemy_x(find_level("1-1")) - 48 else "RIGHT"

        _, results = play(config, stomp)
        episode = results[0].episodes[0]
        assert episode.facts["score"] > 0
        assert episode.episode_return == 0.5 * episode.facts["score"]

    def test_the_seeds_formula(self):
        config = replace(CAREFUL, rewards=REWARDS["seed"])
        _, results = play(config, run_and_jump)
        facts = results[0].episodes[0].facts
        raw = facts["score"] + (facts["end_x"] - START_X) / 80
        assert results[0].episodes[0].episode_return == pytest.approx(0.2 * raw + 5.0, rel=1e-5)

    def test_the_first_step_pays_from_where_mario_stood(self):
        config = replace(CAREFUL, rewards=replace(NOTHING, distance=1.0))
        world = make(config)
        world.reset([1])
        first = press(world, config, "RIGHT")
        assert float(first.reward[0]) == world.facts().x[0] - START_X < 10

    def test_walking_back_costs_what_walking_paid(self):
        config = replace(CAREFUL, rewards=replace(NOTHING, distance=1.0), limit_steps=24, stall_steps=0)
        steps = iter(["RIGHT"] * 8 + ["LEFT"] * 16)
        _, results = play(config, lambda facts: next(steps))
        episode = results[0].episodes[0]
        assert episode.episode_return == episode.facts["end_x"] - START_X
        assert episode.facts["x"] > episode.facts["end_x"]

    def test_knobs_change_what_things_are_worth(self):
        world = make(CAREFUL)
        worth = {knob.name: 0.0 for knob in world.spec.knobs if knob.name != "hard_start_share"}
        assert set(worth) == {
            f"reward_{item}" for item in ("distance", "score", "time", "flag", "death", "milestone", "scale")
        }
        for knob, expected in (("reward_distance", True), ("reward_score", False)):
            world.reset([1])
            world.apply(Knobs(1, worth | {"reward_scale": 2.0, knob: 3.0}))
            before = world.facts().x[0]
            reward = float(press(world, CAREFUL, "RIGHT").reward[0])
            assert reward == (6.0 * (world.facts().x[0] - before) if expected else 0.0)
