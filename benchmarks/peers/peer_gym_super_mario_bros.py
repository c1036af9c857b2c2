"""gym-super-mario-bros 7.4.0 on nes-py 8.2.1, wrapped as most people train on it: skip 4, grey 84×84, a stack of 4.

It brings its own ROM (the PAL program, run at the NTSC console's pace). An episode ends when three lives are lost and
is begun again from a state that the environment itself keeps.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from serving import SIMPLE_ACTIONS, serve

sys.path.append(str(Path(__file__).parent.parent))


def make(rom: Path) -> Callable[[], int]:
    """One environment at the start of 1-1."""
    warnings.simplefilter("ignore")  # gym is full of them under NumPy 2
    from gym_super_mario_bros_shim import make_env

    env = make_env()
    chance = np.random.default_rng(0)
    env.reset()

    def step() -> int:
        _, _, terminated, _, _ = env.step(SIMPLE_ACTIONS[chance.integers(len(SIMPLE_ACTIONS))])
        if terminated:
            env.reset()
        return 1

    return step


if __name__ == "__main__":
    serve(make)
