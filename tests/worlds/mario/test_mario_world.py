"""The Mario world on a game of our own, which needs no ROM."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from respawn.contracts.knobs import Knobs
from respawn.errors import CheckpointError, RomError, WorldError
from respawn.testing.fake_console import FORK_X, GOAL_X, PIPE, START_X, FakeGame, enemy_x, pit_columns
from respawn.testing.suites.saveable import freeze
from respawn.testing.suites.world import check_world
from respawn.worlds.mario import starts
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.config import EPISODE_NUMBERS, REWARDS, MarioConfig, RewardConfig
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.limits import ENDS
from respawn.worlds.mario.world import MarioWorld

NOTHING = RewardConfig(distance=0.0, score=0.0, time=0.0, flag=0.0, death=0.0, milestone=0.0, scale=1.0)
CAREFUL = MarioConfig(actions="complex")

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


def make(config, num_lanes=1):
    return MarioWorld(config, num_lanes, game=FakeGame())


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_a_world(name):
    check_world(lambda num_lanes: make(SETTINGS[name], num_lanes), num_steps=90)


def test_without_a_game_of_ours_a_rom_is_needed():
    starts.open_game.cache_clear()
    with pytest.raises(RomError, match="none here"):
        MarioWorld(MarioConfig(), 1)


def press(world, config, name):
    """One step with this combination in every lane."""
    action = config.action_names.index(name)
    return world.step(torch.full((world.spec.num_lanes,), action))


def play(config, choose, most_steps=2_000):
    """One lane until its episode ends; `choose` names the buttons from the facts. All results, the last one first."""
    world = make(config)
    world.reset([1])
    results = []
    for _ in range(most_steps):
        results.insert(0, press(world, config, choose(world.facts())))
        if results[0].episodes:
            return world, results
    raise AssertionError(f"no end after {most_steps} steps")


def stroll(facts):
    return "RIGHT"


def stand(facts):
    return "NONE"


def run_and_jump(facts):
    """Over the enemy and the pit of any level."""
    x, level = int(facts.x[0]), find_level(f"{facts.world[0]}-{facts.stage[0]}")
    pit = pit_columns(level).start * 16
    enemy = enemy_x(level)
    near = enemy - 34 <= x < enemy or pit - 40 <= x < pit + 8 or x > FORK_X - 40
    return "RIGHT+A+B" if near and facts.float_state[0] == 0 else "RIGHT+B"


def jump_then_stroll(facts):
    """Over the enemy, and into the pit."""
    return run_and_jump(facts) if facts.x[0] < PIPE.stop else "RIGHT"


def run_and_walk(facts):
    """The same, but on the ground past the fork of a maze."""
    return "RIGHT+B" if facts.x[0] > 600 else run_and_jump(facts)


def enter_the_pipe(facts):
    return run_and_jump(facts) if facts.x[0] < PIPE.start or facts.float_state[0] else "DOWN"


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
        worth = {knob.name: 0.0 for knob in world.spec.knobs}
        assert set(worth) == {
            f"reward_{item}" for item in ("distance", "score", "time", "flag", "death", "milestone", "scale")
        }
        for knob, expected in (("reward_distance", True), ("reward_score", False)):
            world.reset([1])
            world.apply(Knobs(1, worth | {"reward_scale": 2.0, knob: 3.0}))
            before = world.facts().x[0]
            reward = float(press(world, CAREFUL, "RIGHT").reward[0])
            assert reward == (6.0 * (world.facts().x[0] - before) if expected else 0.0)


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
