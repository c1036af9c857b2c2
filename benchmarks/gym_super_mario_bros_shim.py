"""gym-super-mario-bros 7.4.0 as ordinary Gymnasium environments under NumPy 2.

It and nes-py 8.2.1 calculate with NumPy's bytes (16 × header[4], 0x100 × ram[0x6D]), which NumPy 2 refuses with an
OverflowError. Here those reads are wide (`live_ram.py`); nothing of how the console is run is touched.

Importing this registers `peer/SuperMarioBros-1-1-v0` to `-8-4-v0`, each a single level, and `peer/SuperMarioBros-v0`,
the whole game, so that with this folder on PYTHONPATH they can be trained on in worker processes:

    export PYTHONPATH=benchmarks
    respawn train cartpole-ppo --world.imports gym_super_mario_bros_shim --world.env-id peer/SuperMarioBros-1-1-v0

Rewards are its own. What it says of a step and of an episode is what `respawn/Mario-v0` and our Mario world say, by
the same names and in the same words, because it is read from the memory by the same code.

    .venv/bin/python benchmarks/gym_super_mario_bros_shim.py        # decisions a second on one core
"""

import contextlib
import io
import time
import warnings
from collections import deque
from functools import lru_cache
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from live_ram import WidenedRam
from respawn.worlds.mario import limits, ram
from respawn.worlds.mario.buttons import action_names, button_byte
from respawn.worlds.mario.levels import ALL_LEVELS, find_level
from respawn.worlds.mario.progress import Progress
from respawn.worlds.mario.ram import MarioFacts, read_facts

SKIP = 4
SIDE = 84
STACK = 4
RIGHT, B = 0x80, 0x02
STEP_FACTS = ("x", "y", "score", "coins", "time", "lives", "power")
"""What every step's info says, beside level and cleared: the same as respawn.envs.mario.FACTS, which needs torch."""
_MILESTONE_PIXELS = 256
_LANE = np.zeros(1, np.int32)
_WATCHED = list(ram.WATCHED)


class SkippedGreyStack(gymnasium.Env[NDArray[np.uint8], SupportsInt]):
    """One decision is four frames with the same buttons; the last is seen as grey 84×84, with the three before it.

    Args:
      level: such as 1-1; empty: the whole game with three lives.
      actions: one of our sets of combinations; empty: every byte of buttons, 256 of them: bit 0 A, 1 B, 2 Select,
        3 Start, 4 Up, 5 Down, 6 Left, 7 Right.
      limit_steps: cut an episode after this many decisions; 0: never.
      render_mode: 'rgb_array' or none.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012  # as Gymnasium declares it
    observation_space = gymnasium.spaces.Box(0, 255, (STACK, SIDE, SIDE), np.uint8)

    def __init__(
        self, level: str = "1-1", actions: str = "simple", limit_steps: int = 4_000, render_mode: str | None = None
    ) -> None:
        self.console = make_console(level)
        self.render_mode = render_mode
        self._level = level
        self._limit_steps = limit_steps
        self._bytes = [button_byte(name) for name in action_names(actions)] if actions else list(range(256))
        self.action_space = gymnasium.spaces.Discrete(len(self._bytes))
        self._pictures: deque[NDArray[np.uint8]] = deque(maxlen=STACK)
        self._progress = Progress(1, SKIP, _MILESTONE_PIXELS)
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin anew, from the state that the environment itself kept; four times the first picture."""
        super().reset(seed=seed)
        self._pictures.extend([shrink(self.console.reset())] * STACK)
        self._facts = self.read()
        self._progress.begin(_LANE, _LANE, self._facts)
        self._return = 0.0
        return np.stack(self._pictures), self._said(self._facts)

    def step(self, action: SupportsInt) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Four frames, or fewer if the episode ends within them."""
        total, done = 0.0, False
        for _ in range(SKIP):
            screen, reward, done, info = self.console.step(self._bytes[int(action)])
            total += reward
            if done:
                break
        self._pictures.append(shrink(screen))
        self._return += total
        before, self._facts = self._facts, self.read()
        self._progress.advance(before, self._facts, limits.look(self._facts))
        steps = int(self._progress.steps[0])
        cut = not done and 0 < self._limit_steps <= steps
        said = self._said(self._facts)
        if done or cut:
            said |= self._last_words(limits.STEP_LIMIT if cut else self._reason(bool(info["flag_get"])))
        return np.stack(self._pictures), total, done, cut, said

    def read(self) -> MarioFacts:
        """What the console's memory says now, by the addresses that our own console is read by."""
        return read_facts(self.console.ram.as_bytes()[None, _WATCHED])

    def _reason(self, has_flag: bool) -> str:
        """Why the console's own rules ended the episode, in our words."""
        facts = self._facts
        if has_flag:
            return limits.WON if facts.mode[0] == ram.MODE_VICTORY and facts.world[0] == 8 else limits.FLAG
        if not self._level:
            return limits.GAME_OVER  # with three lives nothing else ends there
        if facts.time_ran_out[0]:
            return limits.TIME
        # Its rules also take a fall out of the clouds for a death, which ours do not; that too was a fall.
        return limits.PIT if facts.y[0] >= 256 else limits.DEATH

    def _said(self, facts: MarioFacts) -> dict[str, Any]:
        level = f"{facts.world[0]}-{facts.stage[0]}"
        return {**{name: int(getattr(facts, name)[0]) for name in STEP_FACTS}, "level": level, "cleared": False}

    def _last_words(self, end: str) -> dict[str, Any]:
        facts = self._progress.facts(0, limits.ENDS.index(end), self._facts, self._level or "1-1")
        return {
            "end": end,
            "return": self._return,
            "length": int(self._progress.steps[0]),
            "cleared": end in limits.CLEARED,
            "facts": {**facts, "hard_start": 0.0},
        }

    def render(self) -> NDArray[np.uint8] | None:
        """The screen as it is."""
        return np.array(self.console.screen) if self.render_mode == "rgb_array" else None

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


def make_console(level: str = "") -> Any:
    """One console of nes-py with the game in it; a single level, or the whole game."""
    target = find_level(level) if level else None
    return console_class()(target=None if target is None else (target.world, target.stage))


@lru_cache(maxsize=1)
def console_class() -> Any:
    """The environment of gym-super-mario-bros, its memory and its ROM's header read wide."""
    # Not gym.make: gym's own checks use np.bool8, which NumPy 2 no longer has. Nor what gym prints when it is imported:
    # that it is no longer maintained is known, and is why this file is here.
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gym_super_mario_bros import SuperMarioBrosEnv
        from nes_py._rom import ROM

    class Console(SuperMarioBrosEnv):  # type: ignore[misc, unused-ignore]
        def _ram_buffer(self) -> WidenedRam:
            return WidenedRam(super()._ram_buffer())

    ROM.header = property(lambda rom: rom.raw_data[:16].astype(int))
    return Console


def make_env() -> SkippedGreyStack:
    """What most people train on: skip 4, grey, 84×84, a stack of 4; Super Mario Bros. from 1-1 with three lives."""
    return SkippedGreyStack(level="", actions="", limit_steps=0)


def register() -> None:
    """Tell Gymnasium the names, once."""
    levels = {f"peer/SuperMarioBros-{level}-v0": str(level) for level in ALL_LEVELS}
    for name, level in {**levels, "peer/SuperMarioBros-v0": ""}.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point=SkippedGreyStack, kwargs={"level": level})


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


register()

if __name__ == "__main__":
    print(f"{decisions_per_second(make_env()):.0f} decisions/s")
