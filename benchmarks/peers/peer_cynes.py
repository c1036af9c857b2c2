"""cynes 0.1.2: a console alone, written in C++, which knows frames and no decisions.

What an environment would add is added here, as cheaply as it can be: four frames, the last one in grey at 84×84, a
stack of four. After 400 decisions it goes back to the start of 1-1.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serving import LEVEL_STEPS, SIDE, SIMPLE_ACTIONS, SKIP, STACK, START, serve

GAME_MODE, PLAYING = 0x0770, 1
PLAYER_STATE, CONTROLLED = 0x000E, 8
LONGEST_START = 1_000


def make(rom: Path) -> Callable[[], int]:
    """One console at the start of 1-1."""
    from cynes import NES
    from PIL import Image

    console = NES(str(rom))
    start = level_start(console)
    actions = [reversed_bits(int(action)) for action in SIMPLE_ACTIONS]
    chance = np.random.default_rng(0)
    stack = np.zeros((STACK, SIDE, SIDE), np.uint8)
    age = 0

    def step() -> int:
        nonlocal age
        if age == LEVEL_STEPS:
            console.load(start)
            age = 0
        console.controller = actions[chance.integers(len(actions))]
        picture = Image.fromarray(console.step(frames=SKIP)).convert("L")
        stack[:-1] = stack[1:]
        stack[-1] = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BOX))
        age += 1
        return 1

    return step


def level_start(console: Any) -> NDArray[np.uint8]:
    """Tap Start until the level plays and the player can move; the state then."""
    for frame in range(LONGEST_START):
        tapped = console[GAME_MODE] != PLAYING and frame % 8 < 4
        console.controller = reversed_bits(START) if tapped else 0
        console.step()
        if console[GAME_MODE] == PLAYING and console[PLAYER_STATE] == CONTROLLED:
            return console.save()
    raise RuntimeError(f"the level does not play after {LONGEST_START} frames")


def reversed_bits(buttons: int) -> int:
    """Buttons as cynes wants them, A in bit 7."""
    return int(f"{buttons:08b}"[::-1], 2)


if __name__ == "__main__":
    serve(make)
