"""The cells of the grid that Mario's surroundings are told in, and what the level's blocks mean."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.uint8]

CELL = 16
"""Pixels that a cell is wide and high, as the level's blocks are."""
TOP = 32
"""Where the first row of blocks begins: the status line is above it."""


class Cell(IntEnum):
    """What a cell can mean."""

    EMPTY = 0
    SOLID = 1
    BREAKABLE = 2
    QUESTION = 3
    COIN = 4
    ITEM = 5
    GOAL = 6
    VINE = 7
    PLATFORM = 8
    ENEMY = 9
    """to be jumped on"""
    HAZARD = 10
    """to be kept away from"""
    MARIO = 11


def _block_meanings() -> Cells:
    """What each block that can stand in memory means to a player."""
    meaning = np.full(256, Cell.EMPTY, np.uint8)
    for first, last, cell in (
        (0x10, 0x22, Cell.SOLID),  # pipes, ledges of trees and mushrooms, coral
        (0x23, 0x23, Cell.SOLID),  # a block that jumps because it was hit
        (0x24, 0x25, Cell.GOAL),  # the flagpole
        (0x26, 0x26, Cell.VINE),
        (0x51, 0x53, Cell.BREAKABLE),
        (0x54, 0x54, Cell.SOLID),
        (0x55, 0x5E, Cell.BREAKABLE),  # with something inside, which nobody can see
        (0x61, 0x66, Cell.SOLID),  # stairs, walls, bridges, cannons; before them: invisible blocks
        (0x68, 0x6C, Cell.SOLID),
        (0x88, 0x89, Cell.SOLID),  # clouds, Bowser's bridge
        (0xC0, 0xC1, Cell.QUESTION),
        (0xC2, 0xC3, Cell.COIN),
        (0xC4, 0xC4, Cell.SOLID),  # a block that gave what it had
        (0xC5, 0xC5, Cell.GOAL),  # the axe
    ):
        meaning[first : last + 1] = cell
    return meaning


BLOCK_MEANING = _block_meanings()
IS_BLOCK = np.zeros(len(Cell), np.bool_)
"""Whether a meaning is one of blocks that Mario stands on; what is inside or behind them cannot be seen."""
IS_BLOCK[[Cell.SOLID, Cell.BREAKABLE, Cell.QUESTION]] = True
