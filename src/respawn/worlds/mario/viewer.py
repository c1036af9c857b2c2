"""Pictures of lanes for people. The consoles themselves draw only what the agent sees, or nothing.

A step is drawn by playing it once more, from the state before it, on a console that draws every frame: the same
buttons from the same state give the same pictures. Until somebody looks, nothing is kept and nothing is lost.
"""

import numpy as np

from respawn.contracts.world import Frame
from respawn.worlds.mario.engine import PoolConfig
from respawn.worlds.mario.ram import Bytes, Integers
from respawn.worlds.mario.starts import ConsolePool, Game


class Viewer:
    """Draws lanes on demand."""

    def __init__(self, game: Game, consoles: ConsolePool, frame_skip: int, num_lanes: int) -> None:
        self._game = game
        self._consoles = consoles
        self._frame_skip = frame_skip
        self._all = np.arange(num_lanes, dtype=np.int32)
        self._screen: ConsolePool | None = None
        self._before: Bytes | None = None  # [B, state_bytes]
        self._buttons = np.zeros(num_lanes, np.uint8)
        self._extra = np.zeros(num_lanes, np.int32)  # frames that the lane ran on after the decided ones
        self._fresh = np.ones(num_lanes, np.bool_)  # lanes whose episode has not made a step yet

    def before_step(self, buttons: Bytes) -> None:
        """Keep what the step begins from, if anybody looks."""
        self._buttons = buttons.copy()  # the world clears what a lane held when its episode ends
        self._fresh[:] = False
        self._extra[:] = 0
        if self._screen is not None:
            self._before = self._consoles.save_states(self._all)

    def ran_on(self, lane: int, frames: int) -> None:
        """A lane has run on by itself after the decided frames."""
        self._extra[lane] = frames

    def restarted(self, lanes: Integers) -> None:
        """Lanes have gone back to a start within the step."""
        self._fresh[lanes] = True

    def forget(self) -> None:
        """Lanes are somewhere else now."""
        self._before = None
        self._fresh[:] = True

    def picture(self, lane: int) -> Frame:
        """The screen as it is now; at the beginning of an episode, a frame later."""
        if self._before is None or self._fresh[lane]:
            frames = self._play(self._consoles.save_states(self._all[lane : lane + 1]), np.zeros(1, np.uint8))
        else:
            frames = self.last_frames(lane)
        picture: Frame = frames[-1]
        return picture

    def last_frames(self, lane: int) -> Bytes:
        """[frames, 240, 256, 3]; the picture as it is now if nobody looked before the last step."""
        if self._before is None:
            return self.picture(lane)[None]
        return self._play(self._before[lane : lane + 1], self.held(lane))

    def aftermath(self, lane: int, frames: int) -> Bytes:
        """[frames, 240, 256, 3]: how the game would have gone on after a lane's last step, with nothing pressed."""
        released = np.zeros(frames, np.uint8)
        if self._before is None:
            return self._play(self._consoles.save_states(self._all[lane : lane + 1]), released)
        held = np.concatenate([self.held(lane), released])
        return self._play(self._before[lane : lane + 1], held)[len(self.held(lane)) :]

    def last_buttons(self, lane: int) -> int:
        """What was held."""
        return int(self._buttons[lane])

    def held(self, lane: int) -> Bytes:
        """What was held in each frame of the last step: nothing in those that the lane ran on by itself."""
        decided = np.full(self._frame_skip, self._buttons[lane], np.uint8)
        return np.concatenate([decided, np.zeros(self._extra[lane], np.uint8)])

    def _play(self, state: Bytes, held: Bytes) -> Bytes:
        """The picture of each frame from a state on, with these buttons held."""
        if self._screen is None:
            self._screen = self._game.pool(PoolConfig(lanes=1, skip=1, kind="rgb", stack=1))
        self._screen.load_states(self._all[:1], state)
        pictures = np.zeros((len(held), 1, 1, 240, 256, 3), np.uint8)
        for buttons, picture in zip(held[:, None], pictures, strict=True):
            self._screen.step(buttons, picture)
        return pictures[:, 0, 0]
