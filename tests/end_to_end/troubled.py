"""CartPole that meets with trouble once: at a given step, if a certain file is there, which is gone afterwards.

So a run can be disturbed without any setting being another, and what it comes to be compared with an undisturbed one.
"""

import ctypes
import os
import signal
import time
from typing import Any

import gymnasium

from respawn.worlds.foreign.adaptors import adaptor_for

LONG_SECONDS = 120.0
"""Longer than any test waits."""


class Troubled(gymnasium.Wrapper):
    """Says its state, as CartPole does, so that runs in it are resumed exactly."""

    def __init__(self, trouble: str = "", how: str = "", at: int = 30) -> None:
        super().__init__(gymnasium.make("CartPole-v1", disable_env_checker=True))
        adaptor = adaptor_for(self.env)
        assert adaptor is not None
        self._adaptor = adaptor
        self._trouble, self._how, self._at, self._steps = trouble, how, at, 0

    def step(self, action: Any) -> Any:
        self._steps += 1
        is_due = self._steps == self._at and self._takes_the_file()
        observation, reward, *rest = self.env.step(action)
        if is_due and self._how == "sleep":
            time.sleep(LONG_SECONDS)
        elif is_due and self._how == "hold":
            ctypes.PyDLL(None).sleep(int(LONG_SECONDS))  # the lock that all threads of Python need is kept
        elif is_due and self._how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif is_due and self._how == "reward":
            reward = float("nan")
        elif is_due and self._how == "observation":
            observation = observation * float("nan")
        return observation, reward, *rest

    def _takes_the_file(self) -> bool:
        """Whether the trouble is ours: workers may come to the step at the same time, and just one is to have it."""
        if not self._trouble:
            return False
        try:
            os.unlink(self._trouble)
        except FileNotFoundError:
            return False
        return True

    def state(self) -> Any:
        return self._adaptor.state()

    def restore(self, state: Any) -> None:
        self._adaptor.restore(state)


gymnasium.register("Troubled-v0", entry_point=Troubled)
