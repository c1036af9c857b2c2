"""CartPole that gets into trouble at a given step: it raises, or somebody presses Ctrl-C."""

import signal
from typing import Any

import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv


class Trouble(CartPoleEnv):
    def __init__(self, at: int = 40, how: str = "raise", times: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.at, self.how, self.times, self.steps = at, how, times, 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.steps == self.at:
            if self.how == "raise":
                raise ValueError("the pole\nbroke")
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)
        return super().step(action)


gymnasium.register("Trouble-v0", entry_point=Trouble)
