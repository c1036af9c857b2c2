"""gym-super-mario-bros 7.4.0 as an ordinary Gymnasium environment under NumPy 2, to be measured against.

It and nes-py 8.2.1 calculate with NumPy's bytes (16 × header[4], 0x100 × ram[0x6D]), which NumPy 2 refuses with an
OverflowError. Here those two reads give Python integers; nothing of how the console is run is touched.
Needs `make peers`.

    .venv/bin/python benchmarks/gym_super_mario_bros_shim.py        # decisions a second on one core
"""

import time
from collections import deque
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from numpy.typing import NDArray
from PIL import Image

SKIP = 4
SIDE = 84
STACK = 4
RIGHT, B = 0x80, 0x02


class IntegerRam(np.ndarray):
    """The console's memory; one address reads as a Python integer instead of a NumPy byte."""

    def __getitem__(self, where: Any) -> Any:
        found = super().__getitem__(where)
        return int(found) if isinstance(found, np.uint8) else found


class SkippedGreyStack(gymnasium.Env[NDArray[np.uint8], SupportsInt]):
    """One decision is four frames with the same buttons; the last is seen as grey 84×84, with the three before it.

    Actions are bytes of buttons: bit 0 A, 1 B, 2 Select, 3 Start, 4 Up, 5 Down, 6 Left, 7 Right.
    """

    action_space = gymnasium.spaces.Discrete(256)
    observation_space = gymnasium.spaces.Box(0, 255, (STACK, SIDE, SIDE), np.uint8)

    def __init__(self, console: Any) -> None:
        self.console = console
        self.pictures: deque[NDArray[np.uint8]] = deque(maxlen=STACK)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin at the start of the game; four times the first picture."""
        super().reset(seed=seed)
        first = shrink(self.console.reset())
        self.pictures.extend([first] * STACK)
        return np.stack(self.pictures), {}

    def step(self, action: SupportsInt) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Four frames, or fewer if the episode ends within them."""
        total, done, info = 0.0, False, {}
        for _ in range(SKIP):
            screen, reward, done, info = self.console.step(int(action))
            total += reward
            if done:
                break
        self.pictures.append(shrink(screen))
        return np.stack(self.pictures), total, done, False, info

    def close(self) -> None:
        """Free the console."""
        self.console.close()


def shrink(screen: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """RGB 240×256 to grey 84×84 by area average.

    The screen is a backward view of four-byte pixels (blue first, where bytes are little-endian). They are read
    as they lie, because reading through the view takes four times as long and would be held against the peer.
    """
    picture = Image.frombuffer("RGB", (screen.shape[1], screen.shape[0]), screen.base, "raw", "BGRX", 0, 1)
    return np.asarray(picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX))


def make_env() -> SkippedGreyStack:
    """What most people train on: skip 4, grey, 84×84, a stack of 4; Super Mario Bros. from 1-1 with three lives."""
    from gym_super_mario_bros import SuperMarioBrosEnv
    from nes_py._rom import ROM

    class Console(SuperMarioBrosEnv):
        def _ram_buffer(self) -> NDArray[np.uint8]:
            return super()._ram_buffer().view(IntegerRam)

    ROM.header = property(lambda rom: rom.raw_data[:16].astype(int))
    # Not gym.make: gym's own checks use np.bool8, which NumPy 2 no longer has.
    return SkippedGreyStack(Console())


def decisions_per_second(env: SkippedGreyStack, seconds: float = 5.0, seed: int = 0) -> float:
    """Measured while running right with random buttons, episodes begun again as they end."""
    draw = np.random.default_rng(seed)
    env.reset()
    decisions, begun = 0, time.perf_counter()
    while (taken := time.perf_counter() - begun) < seconds:
        _, _, terminated, _, _ = env.step(RIGHT | B | int(draw.integers(2)))
        decisions += 1
        if terminated:
            env.reset()
    return decisions / taken


if __name__ == "__main__":
    print(f"{decisions_per_second(make_env()):.0f} decisions/s")
