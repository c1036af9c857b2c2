"""Playing the Mario world on a game of our own, for tests that need no ROM."""

import torch

from respawn.testing.fake_console import FORK_X, PIPE, FakeGame, enemy_x, pit_columns
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.world import MarioWorld

CAREFUL = MarioConfig(actions="complex")


def make(config, num_lanes=1):
    return MarioWorld(config, num_lanes, game=FakeGame())


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
