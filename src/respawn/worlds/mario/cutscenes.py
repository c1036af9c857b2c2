"""Running on while Mario does not obey, in pipes, growing, under the picture, between levels: nothing to decide."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from respawn.worlds.mario import ram
from respawn.worlds.mario.engine import PoolConfig
from respawn.worlds.mario.ram import Bytes, Integers, byte
from respawn.worlds.mario.starts import ConsolePool, Game

MOST_FRAMES = 1_800
"""No cutscene of the game is longer than half a minute; whatever is, is decided on again."""
_LEVEL_PLAYS = 3
_BLINKING = 10


def obeys(watched: Bytes) -> NDArray[np.bool_]:
    """[B] whether it matters what is pressed, or the game is over and nothing will matter any more."""
    task, mode = byte(watched, ram.TASK), byte(watched, ram.MODE)
    plays = (mode == ram.MODE_PLAYING) & (byte(watched, ram.MODE_TASK) == _LEVEL_PLAYS)
    in_hand = ((task == ram.TASK_CONTROLLED) | (task == _BLINKING)) & ~_has_fallen(watched)
    in_charge: NDArray[np.bool_] = (plays & in_hand) | (mode == ram.MODE_GAME_OVER) | (mode == ram.MODE_TITLE)
    return in_charge


class Cutscenes:
    """A console beside the others, on which a lane runs on by itself."""

    def __init__(self, game: Game, config: PoolConfig) -> None:
        alone = replace(config, lanes=1, threads=1)
        self._beside: ConsolePool = game.pool(replace(alone, skip=1, max_of_two=False))
        self._two_frames: ConsolePool | None = game.pool(replace(alone, skip=2)) if config.max_of_two else None
        self._one = np.zeros(1, np.int32)
        self._nothing = np.zeros(1, np.uint8)
        self._watched = np.zeros((1, len(config.watch)), np.uint8)

    def run_on(self, consoles: ConsolePool, lane: int, watched: Bytes, frames: Bytes | None) -> int:
        """Run a lane until Mario obeys, or until a life is being lost; returns how many frames that took.

        What loses a life on the way, a hammer that hits him in a pipe for example, is for the next step to judge.

        Args:
          consoles: what the lane is one of.
          lane: which.
          watched: [B, addresses] what was read after the last step; the lane's row is read again.
          frames: [B, ...] the newest pictures, if any; the lane's is drawn again.
        """
        which = np.array([lane], np.int32)
        self._beside.load_states(self._one, consoles.save_states(which))
        picture = None if frames is None else frames[lane : lane + 1]
        self._watched[0] = watched[lane]
        judged_already = _loses_a_life(self._watched)
        count = 0
        last_two: list[Bytes] = []  # the states before them
        while count < MOST_FRAMES and not obeys(self._watched)[0]:
            if not judged_already and _loses_a_life(self._watched):
                break
            if self._two_frames is not None:
                last_two = [*last_two[-1:], self._beside.save_states(self._one)]
            self._beside.step(self._nothing, picture, self._watched)
            count += 1
        if self._two_frames is not None and len(last_two) == 2:
            self._two_frames.load_states(self._one, last_two[0])
            self._two_frames.step(self._nothing, picture)
        consoles.load_states(which, self._beside.save_states(self._one))
        watched[lane] = self._watched[0]
        return count


def _loses_a_life(watched: Bytes) -> bool:
    return byte(watched, ram.TASK)[0] in (ram.TASK_DYING, ram.TASK_LIFE_LOST) or bool(_has_fallen(watched)[0])


def _has_fallen(watched: Bytes) -> NDArray[np.bool_]:
    return ram.has_fallen(ram.height(watched), byte(watched, ram.CLOUDS), byte(watched, ram.MODE))


def to_run_on(watched: Bytes, ended: NDArray[np.bool_]) -> Integers:
    """The lanes that are in a cutscene and whose episode goes on."""
    return np.flatnonzero(~ended & ~obeys(watched)).astype(np.int32)
