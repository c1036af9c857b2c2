"""A tank on show: as pictures for whoever asks for them, or in a window."""

import gymnasium

from respawn.contracts.world import Frame
from respawn.envs.showing import GameWindow, windows_can_open
from respawn.worlds.fish.painter import TankPainter
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.vector_env import NO_RENDER_MODE, check_render_mode

STEPS_PER_SECOND = 30
"""how fast a tank is shown"""
RENDER_MODES = ("human", "rgb_array")
_WINDOW_SIZE = 768


class TankShow:
    """Sees every step, so that pictures also show where fish have been; costs nothing without a render mode."""

    def __init__(self, render_mode: str | None) -> None:
        check_render_mode(render_mode, RENDER_MODES)
        self._mode = render_mode
        self._window: GameWindow | None = None
        if render_mode == "human":
            self._window = GameWindow("Fish", STEPS_PER_SECOND, scale=1)
            self._painter = TankPainter(_WINDOW_SIZE)
        elif render_mode is not None:
            self._painter = TankPainter()

    def see(self, swarm: SwarmState) -> None:
        """Take note of a step, and show it where there is a window."""
        if self._mode is None:
            return
        self._painter.see(swarm)
        if self._window is not None:
            self._window.show(self._painter.picture()[None])

    def render(self) -> "Frame | None":
        """The step that was seen last; in a window it is already seen."""
        if self._mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
        return self._painter.picture() if self._mode == "rgb_array" else None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()


def render_modes() -> list[str]:
    """The ways of showing a tank that there are here."""
    return list(RENDER_MODES) if windows_can_open() else ["rgb_array"]
