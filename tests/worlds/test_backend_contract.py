"""What every backend of Super Mario Bros. owes us: an end is an end, has its reason, and leads back to the start.

The same body on our engine with the game itself, on the console without a ROM, and on gym-super-mario-bros through its
shim. Each is forced into the same ends by what its memory is made to say.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from respawn.testing.fake_console import GOAL_X, FakeGame
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.mario import ram
from respawn.worlds.mario.config import EPISODE_NUMBERS, MarioConfig
from respawn.worlds.mario.limits import CLEARED, ENDS
from respawn.worlds.mario.world import MarioWorld
from the_game import needed_rom
from the_peer import needed_shim

sys.path.append(str(Path(__file__).parent / "mario"))

PEER = "peer/SuperMarioBros-1-1-v0"
WORDS = ("level", "reached")
"""What is said of an episode beside numbers."""
LIMIT = 6
STANDING, RIGHT, RUNNING = (MarioConfig().action_names.index(name) for name in ("NONE", "RIGHT", "RIGHT+B"))
MOST_STEPS = 120
LATE = {ram.TIME_DIGITS: 0, ram.TIME_DIGITS + 1: 0, ram.TIME_DIGITS + 2: 1}
CASES = ("death", "pit", "flag", "time", "step limit")

Forced = tuple[object, Callable[[], None], int]
"""A world of one lane, what brings its episode near its end, and the action that leads there."""


def engine(end: str) -> Forced:
    """The game itself; it begins where the end is near."""
    needed_rom()
    from staged import StagedGame, fly_to, poke

    scenes = {
        "death": lambda console: None,  # the first goomba
        "pit": fly_to(1110, 200),
        "flag": fly_to(3140, 90),
        "time": poke(LATE),
        "step limit": lambda console: None,
    }
    action = {"death": RIGHT, "flag": RUNNING}.get(end, STANDING)
    return MarioWorld(config_for(end), 1, game=StagedGame(scenes[end])), lambda: None, action


def fake_console(end: str) -> Forced:
    """The game that needs no ROM."""
    world = MarioWorld(config_for(end), 1, game=FakeGame())

    def force() -> None:
        console = world._consoles._consoles[0]
        if end == "death":
            console.x = console.enemy * 16
        elif end == "pit":
            console.y = 330 * 16
        elif end == "flag":
            console.x = GOAL_X * 16
        elif end == "time":
            console.time = 1

    return world, force, STANDING


def peer(end: str) -> Forced:
    """gym-super-mario-bros on nes-py; its live memory is written to."""
    needed_shim()
    limit = {"limit_steps": LIMIT if end == "step limit" else 0}
    world = ForeignWorld(ForeignConfig(env_id=PEER, env_kwargs=limit, imports=("gym_super_mario_bros_shim",)), 1)
    pokes = {
        "death": {ram.TASK: ram.TASK_DYING},
        "pit": {ram.Y_PAGE: 2},
        # The flag in the first slot of enemies, and Mario on its pole: by these it is known there.
        "flag": {ram.ENEMY_KIND: 0x31, ram.FLOAT_STATE: ram.ON_FLAGPOLE, ram.TASK: ram.TASK_FLAGPOLE},
        "time": LATE,
        "step limit": {},
    }

    def force() -> None:
        for address, value in pokes[end].items():
            world._lanes._group._envs[0].unwrapped.console.ram[address] = value

    return world, force, STANDING


def config_for(end: str) -> MarioConfig:
    return MarioConfig(observation="pixels", limit_steps=LIMIT if end == "step limit" else 0, stall_steps=0)


def play_until_it_ends(world, action):
    for steps in range(1, MOST_STEPS + 1):
        result = world.step(torch.full((1,), action))
        if result.episodes:
            return steps, result
    raise AssertionError(f"no end within {MOST_STEPS} steps")


@pytest.mark.parametrize(
    "backend", [engine, fake_console, peer], ids=["engine", "fake console", "gym-super-mario-bros"]
)
@pytest.mark.parametrize("end", CASES)
def test_an_end_has_its_reason_and_leads_back_to_the_start(backend, end):
    world, force, action = backend(end)
    first = world.reset([1]).clone()
    force()
    steps, result = play_until_it_ends(world, action)

    (episode,) = result.episodes
    assert episode.end == end and end in ENDS
    was_cut = end == "step limit"
    assert bool(result.truncated[0]) is was_cut and bool(result.terminated[0]) is not was_cut
    assert len(result.cut_observations) == int(was_cut)
    assert episode.length == steps

    # One schema: the same facts by the same names, with the same meaning.
    assert set(episode.facts) == {*EPISODE_NUMBERS, *WORDS}
    assert all(type(episode.facts[name]) is float for name in EPISODE_NUMBERS)
    assert episode.facts["cleared"] == float(end in CLEARED) == episode.facts["flags"]
    assert episode.facts["level"] == "1-1" and episode.facts["hard_start"] == 0.0
    assert (episode.facts["time_left"] == 0.0) is (end == "time")
    assert (episode.facts["end_y"] >= 256) is (end == "pit")

    # The emulator really went back, and the next episode is one.
    assert torch.equal(result.observation, first)
    following = world.step(torch.full((1,), STANDING))
    assert backend is engine or not following.episodes  # a staged start may be near its end again
    world.close()


def test_the_peer_says_the_same_out_of_a_worker_process():
    """What ended an episode, and all that is said of it, comes through the pipe."""
    needed_shim()
    config = ForeignConfig(
        env_id=PEER, imports=("gym_super_mario_bros_shim",), env_kwargs={"limit_steps": 4}, workers=2
    )
    world = ForeignWorld(config, 3)
    try:
        world.reset([1, 2, 3])
        results = [world.step(torch.full((3,), STANDING)) for _ in range(4)]
    finally:
        world.close()
    assert [episode.lane for episode in results[-1].episodes] == [0, 1, 2]
    for episode in results[-1].episodes:
        assert episode.end == "step limit" and set(episode.facts) == {*EPISODE_NUMBERS, *WORDS}


def test_both_consoles_tell_the_same_of_one_play():
    """The same buttons from the start of 1-1: the first goomba, on our engine and on nes-py."""
    needed_rom()
    needed_shim()
    config = MarioConfig(observation="pixels")
    foreign = ForeignConfig(env_id=PEER, imports=("gym_super_mario_bros_shim",))
    told = []
    for world in (MarioWorld(config, 1), ForeignWorld(foreign, 1)):
        world.reset([1])
        _, result = play_until_it_ends(world, RIGHT)
        told.append(result.episodes[0])
        world.close()
    ours, theirs = told
    assert ours.end == theirs.end == "death"
    assert abs(ours.facts["x"] - theirs.facts["x"]) <= 24  # theirs is the PAL program: its Mario and goombas differ
