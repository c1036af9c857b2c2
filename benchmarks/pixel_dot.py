"""An environment with pictures, for benchmarks: steer a dot to the lit side. It can say its state."""

from typing import Any

import gymnasium
import numpy as np


class PixelDot(gymnasium.Env):  # type: ignore[type-arg]
    """84×84×4 uint8 pictures; left, stay or right; +1 at the lit side, -1 at the other, a little less every step."""

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own convention
    observation_space = gymnasium.spaces.Box(0, 255, (84, 84, 4), np.uint8)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new dot near the middle, a side to reach."""
        super().reset(seed=seed)
        self._row, self._column = int(self.np_random.integers(10, 74)), int(self.np_random.integers(30, 54))
        self._lit_left = bool(self.np_random.integers(2))
        self._steps = 0
        return self._picture(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move the dot by four pixels."""
        self._column = int(np.clip(self._column + (int(action) - 1) * 4, 0, 83))
        self._steps += 1
        left, right = self._column <= 4, self._column >= 79
        reward = (1.0 if left == self._lit_left else -1.0) if left or right else -0.01
        return self._picture(), reward, left or right, self._steps >= 60, {}

    def state(self) -> dict[str, Any]:
        """Everything."""
        return {
            "place": [self._row, self._column, self._steps],
            "lit_left": self._lit_left,
            "generator": self.np_random.bit_generator.state,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Everything again."""
        self._row, self._column, self._steps = state["place"]
        self._lit_left = state["lit_left"]
        self.np_random.bit_generator.state = state["generator"]

    def _picture(self) -> Any:
        picture = np.zeros((84, 84, 4), np.uint8)
        picture[:, slice(0, 4) if self._lit_left else slice(80, 84)] = 120
        picture[max(0, self._row - 4) : self._row + 4, max(0, self._column - 4) : self._column + 4] = 255
        return picture


gymnasium.register("respawn-benchmarks/PixelDot-v0", entry_point=PixelDot)
