"""Environments that are watched in a window while somebody's own code plays them."""

import os
import sys
from contextlib import ExitStack

import numpy as np

from respawn.contracts.world import Frame
from respawn.errors import VideoError
from respawn.evaluation.pacing import Pace
from respawn.evaluation.window import opened_window

SCALE = 2
"""A console's picture is small on today's screens."""


def windows_can_open() -> bool:
    """Whether this is a place with a screen, as far as can be told without opening a window."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY"))


class GameWindow:
    """A window that shows frames at the speed they were meant for."""

    def __init__(self, title: str, frames_per_second: float, scale: int = SCALE) -> None:
        self._scale = scale
        self._closing = ExitStack()
        self._pace = Pace(frames_per_second)
        try:
            self._window = self._closing.enter_context(opened_window(title))
        except VideoError as error:
            raise VideoError(
                f"render_mode='human' shows the game in a window, and none can be opened here ({error.__context__}); "
                "use 'rgb_array', whose pictures gymnasium.wrappers.RecordVideo makes a film of"
            ) from None

    def show(self, frames: Frame) -> None:
        """Show [frames, height, width, 3] one after the other, for as long as the window is there."""
        for frame in frames:
            if not self._window.is_open:
                return  # nobody watches any more, so nothing need wait
            if self._pace.is_time():
                self._window.show(np.ascontiguousarray(frame.repeat(self._scale, 0).repeat(self._scale, 1)))

    def close(self) -> None:
        """Close it; a second time does nothing."""
        self._closing.close()
