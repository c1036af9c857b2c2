"""What nothing can be decided in is run through: on a game of our own, on scripted memory, and on the game itself."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from fake_play import CAREFUL, enter_the_pipe, make, press
from memories import watched
from staged import StagedGame, fly_to, place

from respawn.testing.fake_console import FakeGame
from respawn.worlds.mario import cutscenes, ram
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.cutscenes import Cutscenes, obeys, to_run_on
from respawn.worlds.mario.engine import Console, PoolConfig
from respawn.worlds.mario.progress import FRAMES_PER_SECOND
from respawn.worlds.mario.ram import read_facts
from respawn.worlds.mario.world import MarioWorld

PIXELS = replace(CAREFUL, observation="pixels", picture_size=24, frame_stack=1)
ON_A_PIPE, POWER_UP_SLOT, POWER_UP = fly_to(920, 100), 5, 0x2E


def said(values: dict[int, int]) -> ram.Bytes:
    memory = np.zeros(2048, np.uint8)
    for address, value in values.items():
        memory[address] = value
    return watched(memory)


def playing(task: int) -> ram.Bytes:
    return said({ram.MODE: ram.MODE_PLAYING, ram.MODE_TASK: 3, ram.TASK: task})


def into_the_pipe(world, config, most_steps=200):
    """The buttons of every frame up to and including the step in which the lane ran on by itself."""
    held = []
    for _ in range(most_steps):
        press(world, config, enter_the_pipe(world.facts()))
        held.append(world.last_held(0))
        if len(held[-1]) > config.frame_skip:
            return np.concatenate(held), len(held[-1]) - config.frame_skip
    raise AssertionError(f"no cutscene in {most_steps} steps")


def replayed(game, config, held, *, skip=1, max_of_two=False, kind="grey"):
    """A console of its own that begins where the level does and holds what a lane held: its memory, its picture."""
    size = config.picture_size
    shape = PoolConfig(1, skip=skip, kind=kind, height=size, width=size, stack=1, watch=ram.WATCHED)
    first, last = (game.pool(replace(shape, skip=n, max_of_two=m)) for n, m in ((1, False), (skip, max_of_two)))
    lane, memory, picture = np.zeros(1, np.int32), np.zeros((1, len(ram.WATCHED)), np.uint8), None
    if kind != "none":
        picture = np.zeros((1, 1, size, size), np.uint8)
    first.load_states(lane, game.level_starts(config.start_levels[0], 0, size).states)
    for buttons in held[:-skip]:
        first.step(np.array([buttons]))
    last.load_states(lane, first.save_states(lane))
    last.step(np.array([held[-1]]), picture, memory)
    return memory, picture


class ScriptedPool:
    """A console whose task is told frame by frame; its state is the number of frames it has run."""

    def __init__(self, tasks: list[int]) -> None:
        self._tasks, self._frame = tasks, np.zeros((1, 1), np.uint8)

    def pool(self, config: PoolConfig) -> "ScriptedPool":
        return self

    def step(self, buttons, frames=None, ram=None):
        ram[:] = playing(self._tasks[int(self._frame[0, 0])])
        self._frame = self._frame + 1

    def save_states(self, lanes):
        return self._frame

    def load_states(self, lanes, states):
        self._frame = states


class TestObeys:
    @pytest.mark.parametrize("task", [ram.TASK_CONTROLLED, 10])
    def test_where_buttons_matter(self, task):
        assert obeys(playing(task)).tolist() == [True]

    @pytest.mark.parametrize(
        "task", [0, ram.TASK_CLIMBING, ram.TASK_SIDE_PIPE, ram.TASK_PIPE, 7, 9, ram.TASK_DYING, 12]
    )
    def test_not_where_the_game_moves_him(self, task):
        assert obeys(playing(task)).tolist() == [False]

    @pytest.mark.parametrize(("clouds", "matter"), [(0, False), (1, True)])
    def test_not_under_the_picture_but_out_of_the_clouds(self, clouds, matter):
        where = {ram.Y_PAGE: 2, ram.Y_LOW: 10, ram.CLOUDS: clouds}
        rows = said({ram.MODE: ram.MODE_PLAYING, ram.MODE_TASK: 3, ram.TASK: ram.TASK_CONTROLLED, **where})
        assert obeys(rows).tolist() == [matter]

    def test_not_while_a_level_is_laid_out(self):
        assert not obeys(said({ram.MODE: ram.MODE_PLAYING, ram.MODE_TASK: 1, ram.TASK: 8}))[0]

    def test_nothing_is_waited_for_when_the_game_is_over(self):
        assert obeys(said({ram.MODE: ram.MODE_GAME_OVER, ram.TASK: 6}))[0]

    def test_lanes_whose_episode_ended_do_not_run_on(self):
        rows = np.concatenate([playing(3), playing(8), playing(3)])
        assert to_run_on(rows, np.array([False, False, True])).tolist() == [0]


class TestWhereItStops:
    @pytest.mark.parametrize(
        ("begun_in", "tasks", "frames"),
        [
            (3, [3, 3, 0, 8, 8], 4),
            (3, [3, ram.TASK_DYING, 6, 0, 8], 2),  # a life is lost on the way: the next step judges it
            (ram.TASK_DYING, [ram.TASK_DYING, 6, 0, 8], 4),  # it was judged before
        ],
    )
    def test_as_soon_as_there_is_something_to_judge(self, begun_in, tasks, frames):
        pool = ScriptedPool(tasks)
        rows = playing(begun_in)
        ran = Cutscenes(pool, PoolConfig(1, kind="none", watch=ram.WATCHED)).run_on(pool, 0, rows, None)
        assert (ran, int(read_facts(rows).task[0])) == (frames, tasks[frames - 1])

    def test_never_later_than_half_a_minute(self, monkeypatch):
        monkeypatch.setattr(cutscenes, "MOST_FRAMES", 10)
        world = make(CAREFUL)
        world.reset([1])
        _, ran = into_the_pipe(world, CAREFUL)
        assert ran == 10 and world.facts().task[0] == ram.TASK_PIPE  # a pipe takes 30
        press(world, CAREFUL, "NONE")
        assert len(world.last_held(0)) == 14
        press(world, CAREFUL, "NONE")
        assert world.facts().task[0] == ram.TASK_CONTROLLED


class TestOnAGameOfOurOwn:
    def test_a_pipe_is_one_decision_that_leads_where_frames_by_themselves_do(self):
        world = make(CAREFUL)
        world.reset([1])
        held, ran = into_the_pipe(world, CAREFUL)
        assert world.facts().area[0] == 1 and 26 <= ran <= 30
        assert set(held[-ran:].tolist()) == {0}
        memory, _ = replayed(FakeGame(), CAREFUL, held, kind="none")
        assert np.array_equal(world.state()["watched"], memory)

    @pytest.mark.parametrize("max_of_two", [False, True])
    def test_the_newest_picture_is_of_where_he_comes_out(self, max_of_two):
        config = replace(PIXELS, max_of_two=max_of_two)
        world = make(config)
        world.reset([1])
        held, _ = into_the_pipe(world, config)
        _, picture = replayed(FakeGame(), config, held, skip=2 if max_of_two else 1, max_of_two=max_of_two)
        assert np.array_equal(world.observe().numpy(), picture)

    def test_every_frame_is_shown(self):
        world = make(CAREFUL)
        world.reset([1])
        world.render(0)
        into_the_pipe(world, CAREFUL)
        frames = world.last_frames(0)
        assert len(frames) == len(world.last_held(0)) > CAREFUL.frame_skip
        assert np.array_equal(frames[-1], world.render(0))

    def test_every_frame_is_counted_and_no_decision_more(self):
        config = replace(CAREFUL, stall_steps=10)
        world = make(config)
        world.reset([1])
        held, _ = into_the_pipe(world, config)
        frames, steps = len(held), 0
        while True:
            steps += 1
            ended = press(world, config, "NONE").episodes
            frames += len(world.last_held(0))
            if ended:
                break
        assert ended[0].facts["seconds"] * FRAMES_PER_SECOND == pytest.approx(frames)
        assert steps == 10  # arriving somewhere else is getting further

    def test_other_lanes_know_nothing_of_it(self):
        world, alone = make(CAREFUL, 2), make(CAREFUL)
        world.reset([1, 2])
        alone.reset([2])
        for step in range(80):
            names = [enter_the_pipe(world.facts().take(np.array([0]))), "RIGHT" if step < 5 else "NONE"]
            world.step(torch.tensor([CAREFUL.action_names.index(name) for name in names]))
            press(alone, CAREFUL, names[1])
        assert world.facts().area.tolist() == [1, 0]
        assert freeze_lane(world, 1) == freeze_lane(alone, 0)

    def test_without_it_the_agent_decides_on(self):
        config = replace(CAREFUL, skip_cutscenes=False)
        world = make(config)
        world.reset([1])
        seen = set()
        for _ in range(200):
            press(world, config, enter_the_pipe(world.facts()))
            seen.add(int(world.facts().task[0]))
            assert len(world.last_held(0)) == config.frame_skip
        assert ram.TASK_PIPE in seen

    def test_in_a_whole_game_a_lost_life_is_paid_once_and_the_next_one_begins(self):
        config = replace(CAREFUL, whole_game=True, rewards=replace(CAREFUL.rewards, distance=0.0, time=0.0))
        world = make(config)
        world.reset([1])
        rewards = []
        while world.facts().lives[0] == 3:
            rewards.append(float(press(world, config, "RIGHT").reward[0]))
        assert sum(rewards) == rewards[-1] == config.rewards.death
        assert world.facts().task[0] == ram.TASK_CONTROLLED and world.facts().x[0] == 40


class TestOnTheGameItself:
    def test_a_pipe_leads_where_frames_by_themselves_do(self):
        game, config = StagedGame(ON_A_PIPE), MarioConfig(actions="complex")
        world = MarioWorld(config, 1, game=game)
        world.reset([1])
        held = [pressed(world, config, name) for name in ["NONE"] * 13 + ["DOWN"] * 3]
        longest = max(held, key=len)
        assert len(longest) > 80 and set(longest[config.frame_skip :].tolist()) == {0}
        assert read_facts(world.state()["watched"]).task[0] == ram.TASK_CONTROLLED
        memory, _ = replayed(game, config, np.concatenate(held), kind="none")
        assert np.array_equal(world.state()["watched"], memory)

    def test_he_grows_within_a_decision(self):
        game, config = StagedGame(beside_a_mushroom), MarioConfig(observation="pixels", frame_stack=1)
        world = MarioWorld(config, 1, game=game)
        world.reset([1])
        world.render(0)
        held = []
        while world.facts().power[0] == 0 and len(held) < 60:
            held.append(pressed(world, config, "NONE"))
        assert world.facts().power[0] == 1 and world.facts().task[0] == ram.TASK_CONTROLLED
        assert len(world.last_frames(0)) == len(held[-1]) > 40
        memory, picture = replayed(game, config, np.concatenate(held))
        assert np.array_equal(world.state()["watched"], memory)
        assert np.array_equal(world.observe().numpy(), picture)

    def test_the_brighter_of_two_frames_is_kept_there_too(self):
        game = StagedGame(beside_a_mushroom)
        config = MarioConfig(observation="pixels", frame_stack=1, max_of_two=True)
        world = MarioWorld(config, 1, game=game)
        world.reset([1])
        held = []
        while world.facts().power[0] == 0 and len(held) < 60:
            held.append(pressed(world, config, "NONE"))
        _, picture = replayed(game, config, np.concatenate(held), skip=2, max_of_two=True)
        assert np.array_equal(world.observe().numpy(), picture)


def pressed(world, config, name):
    press(world, config, name)
    return world.last_held(0)


def freeze_lane(world, lane):
    return {name: values[lane] for name, values in world.facts().state().items()}


def beside_a_mushroom(console: Console) -> None:
    """One slides towards Mario from the right."""
    x, y = place(console), console.read(ram.Y_LOW)
    for address, value in (
        (ram.ENEMY_ACTIVE, 1), (ram.ENEMY_KIND, POWER_UP), (ram.ENEMY_STATE, 0x80), (ram.ENEMY_X_PAGE, 0),
        (ram.ENEMY_X_LOW, x + 40), (ram.ENEMY_Y_PAGE, 1), (ram.ENEMY_Y_LOW, y), (ram.ENEMY_X_SPEED, 0xF0),
        (0x049A, 3),  # how large it is to be run into
    ):  # fmt: skip
        console.poke(address + POWER_UP_SLOT, value)
    console.poke(0x0039, 0)  # of all power-ups, a mushroom
