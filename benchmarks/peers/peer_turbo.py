"""env-supermariobrosnes-turbo-emu 0.7.4: many consoles in one call, written in Rust.

As fast as it goes on one core: one thread, pictures that are not copied, nothing told but rewards and ends. How many
consoles hardly matters to it (4 to 64 were within noise of each other, 1 is a tenth slower). Episodes end when it says
so, and it is asked to begin them again, which it does not do by itself.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from serving import SIDE, SKIP, STACK, serve

LANES = 16
ACTIONS = ((), ("RIGHT",), ("RIGHT", "A"), ("RIGHT", "B"), ("RIGHT", "A", "B"), ("A",), ("LEFT",))


def make(rom: Path) -> Callable[[], int]:
    """Sixteen consoles at the start of 1-1."""
    from env_supermariobrosnes_turbo_emu import EnvSuperMarioBrosNesTurboEmuVecEnv

    env = EnvSuperMarioBrosNesTurboEmuVecEnv(
        "SuperMarioBros-Nes-v0",
        state="Level1-1",
        use_restricted_actions=ACTIONS,
        num_envs=LANES,
        num_threads=1,
        rom_path=rom,
        obs_copy="unsafe_view",
        obs_resize=(SIDE, SIDE),
        obs_grayscale=True,
        obs_resize_algorithm="area",
        frame_skip=SKIP,
        frame_stack=STACK,
        info_filter="none",
    )
    chance = np.random.default_rng(0)
    observed, _ = env.reset(seed=0)
    assert observed.shape == (LANES, STACK, SIDE, SIDE) and observed.dtype == np.uint8

    def step() -> int:
        _, _, terminated, truncated, _ = env.step(chance.integers(len(ACTIONS), size=LANES))
        ended = terminated | truncated
        if ended.any():
            env.reset(options={"reset_mask": ended})
        return LANES

    return step


if __name__ == "__main__":
    serve(make)
