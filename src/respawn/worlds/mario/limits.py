"""Episode ends in Super Mario Bros.: terminated, truncated, and why. Rewards are not decided here."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from respawn.worlds.mario import ram
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.ram import Integers, MarioFacts

Flags = NDArray[np.bool_]

FLAG, WON = "flag", "won"
DEATH, PIT, TIME, GAME_OVER = "death", "pit", "time", "game over"
WARP, LOOP = "warp", "loop"
STALL, STEP_LIMIT = "stall", "step limit"
ENDS = (FLAG, WON, DEATH, PIT, TIME, GAME_OVER, WARP, LOOP, STALL, STEP_LIMIT)
"""Every reason, the stronger first; those before `stall` terminate an episode, the others cut it short."""
CLEARED = frozenset({FLAG, WON})

_LAST_WORLD = 8
_GOING_ON = -1


class Seen(NamedTuple):
    """What the memory shows of the things that can end an episode, [B] bool each."""

    flag: Flags
    """the flagpole or the axe was reached"""
    won: Flags
    """and it was the last axe"""
    lost: Flags
    """a life is lost"""
    fell: Flags
    """by falling"""
    late: Flags
    """because the clock ran out"""
    game_over: Flags


def look(facts: MarioFacts) -> Seen:
    """What the memory shows."""
    victory = facts.mode == ram.MODE_VICTORY
    flag = (facts.task == ram.TASK_FLAGPOLE) | (facts.task == ram.TASK_WALKING_OFF) | victory
    late = facts.time_ran_out != 0
    fell = ram.has_fallen(facts.y, facts.clouds, facts.mode)
    dying = (facts.task == ram.TASK_DYING) | (facts.task == ram.TASK_LIFE_LOST)
    playing = facts.mode == ram.MODE_PLAYING
    return Seen(
        flag=flag,
        won=victory & (facts.world == _LAST_WORLD),
        lost=(dying | fell) & playing & ~flag,
        fell=fell,
        late=late,
        game_over=facts.mode == ram.MODE_GAME_OVER,
    )


class Limits:
    """Decides which lanes' episodes end, and why."""

    def __init__(self, config: MarioConfig) -> None:
        self._config = config

    def ends(self, seen: Seen, left_level: Flags, looped: Flags, stalled: Integers, steps: Integers) -> Integers:
        """[B] places in `ENDS`, -1 where the episode goes on.

        Args:
          seen: what the memory shows.
          left_level: the level is no longer the one the step began in, and no flag led out of it.
          looped: a maze has just thrown Mario back.
          stalled: decisions without getting further.
          steps: decisions so far.
        """
        config = self._config
        if config.whole_game:
            reasons = {WON: seen.won, GAME_OVER: seen.game_over}
        else:
            reasons = {
                WON: seen.won,
                FLAG: seen.flag & ~seen.won,
                TIME: seen.lost & seen.late,
                PIT: seen.lost & seen.fell,
                DEATH: seen.lost,
                GAME_OVER: seen.game_over,
                WARP: left_level,
            }
        if config.maze_ends:
            reasons[LOOP] = looped
        if config.stall_steps:
            reasons[STALL] = stalled >= config.stall_steps
        if config.limit_steps:
            reasons[STEP_LIMIT] = steps >= config.limit_steps
        ends = np.full(len(steps), _GOING_ON, np.int32)
        for reason, holds in reasons.items():
            ends[holds & (ends == _GOING_ON)] = ENDS.index(reason)
        return ends


def is_cut(ends: Integers) -> Flags:
    """[B] whether an end is a cut: the episode could have gone on."""
    return ends >= ENDS.index(STALL)
