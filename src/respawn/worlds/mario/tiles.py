"""The level round Mario as a small grid of meanings, read from memory. Nothing has to be drawn for it.

A cell is 16 pixels wide and high, as the level's blocks are. The grid moves with Mario, so that what stands two cells
ahead of him is always in the same place. It shows what a player could see: what a brick holds stays hidden, and so do
invisible blocks.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from respawn.worlds.mario import ram
from respawn.worlds.mario.cells import BLOCK_MEANING, CELL, IS_BLOCK, TOP, Cell, Cells
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.creatures import Creatures
from respawn.worlds.mario.ram import Bytes, MarioFacts, byte, columns, screen_left, signed

Floats = NDArray[np.float32]

LEVEL_ROWS, LEVEL_COLUMNS = 13, 32
NUM_PLANES = 4
NEAREST = 3
"""Enemies whose exact place is told on top of the grid."""
_NOWHERE = ram.BLOCK_BYTES
"""The place of a block that always reads as empty."""
_START_COLUMNS = 8
"""Columns so far left that the grid may reach beyond the area's left end, where nothing is."""
_VARIANTS = _START_COLUMNS + LEVEL_COLUMNS
_HIGHEST_ROW, _LOWEST_ROW = -8, 20
"""Rows in which Mario's own is counted; beyond them nothing of the level is in reach of the grid anyway."""


PLANES = np.zeros((len(Cell), NUM_PLANES), np.float32)
"""What a network is told of each meaning: ground, things to gain, things that live, things that carry or end."""
PLANES[[Cell.SOLID, Cell.BREAKABLE, Cell.QUESTION], 0] = 1.0
PLANES[[Cell.BREAKABLE, Cell.QUESTION, Cell.COIN, Cell.ITEM], 1] = (0.5, 1.0, -0.5, -1.0)
PLANES[[Cell.ENEMY, Cell.HAZARD], 2] = (1.0, -1.0)
PLANES[[Cell.PLATFORM, Cell.GOAL, Cell.VINE], 3] = (1.0, -1.0, -0.5)
_PACKED_PLANES = PLANES.view(np.complex128)[:, 0]
"""The same four numbers as one of 16 bytes, which is looked up at once."""

SCALARS = (
    "x_in_cell", "y_in_cell", "x_on_screen", "height", "x_in_area", "x_speed", "y_speed", "facing", "on_ground",
    "jumping", "falling", "obeys", "a_held", "b_held", "power", "star", "blinking", "crouching", "swimming", "time",
    "water", "outside", "underground", "castle",
    *(f"enemy_{number}_{what}" for number in range(NEAREST) for what in ("there", "dx", "dy", "x_speed", "hazard")),
)  # fmt: skip
"""The numbers that follow the grid, in their order."""
_OWN_SCALARS = len(SCALARS) - NEAREST * 5


class TileReader:
    """Turns what a pool watched into observations."""

    def __init__(self, config: MarioConfig) -> None:
        self.rows = config.rows_above + 1 + config.rows_below
        self.columns = config.columns_behind + 1 + config.columns_ahead
        self._above, self._behind = config.rows_above, config.columns_behind
        self._places = _block_places(config.rows_above, config.rows_below, config.columns_behind, config.columns_ahead)
        self._offsets = np.zeros((0, 1), np.int64)
        self.size = self.rows * self.columns * NUM_PLANES + len(SCALARS)

    def read(self, watched: Bytes, facts: MarioFacts) -> Floats:
        """[B, size] float32: the planes of the grid, cell by cell, then the scalars."""
        lanes = len(watched)
        observation = np.empty((lanes, self.size), np.float32)
        creatures = Creatures(watched, facts)
        grid = self._cells(watched, facts, creatures)
        in_planes = self.rows * self.columns * NUM_PLANES
        observation[:, :in_planes] = _PACKED_PLANES.take(grid).view(np.float32)
        _write_scalars(watched, facts, observation[:, in_planes : in_planes + _OWN_SCALARS])
        _write_nearest(creatures, observation[:, in_planes + _OWN_SCALARS :])
        return observation

    def cells(self, watched: Bytes, facts: MarioFacts) -> Cells:
        """[B, rows, columns] meanings, Mario's own cell included: for people and for tests."""
        grid = self._cells(watched, facts, Creatures(watched, facts)).reshape(-1, self.rows, self.columns)
        grid[:, self._above, self._behind] = Cell.MARIO
        return grid

    def _row_offsets(self, lanes: int) -> NDArray[np.int64]:
        if len(self._offsets) != lanes:
            self._offsets = np.arange(lanes)[:, None] * (ram.BLOCK_BYTES + 1)
        return self._offsets

    def _cells(self, watched: Bytes, facts: MarioFacts, creatures: Creatures) -> Cells:
        row, column = mario_cell(facts)
        blocks = np.empty((len(watched), ram.BLOCK_BYTES + 1), np.uint8)
        blocks[:, :-1] = watched[:, columns(ram.BLOCKS, ram.BLOCK_BYTES)]
        blocks[:, -1] = 0
        # Not after a maze has thrown Mario back that far: then there is more of it to his left.
        near_start = (column >= 0) & (column < _START_COLUMNS) & (screen_left(watched) >= 0)
        variant = np.where(near_start, column, _START_COLUMNS + column % LEVEL_COLUMNS)
        which = (np.clip(row, _HIGHEST_ROW, _LOWEST_ROW) - _HIGHEST_ROW) * _VARIANTS + variant
        places = self._places.take(which, axis=0)
        places += self._row_offsets(len(watched))
        grid = BLOCK_MEANING.take(blocks.take(places))
        lanes, r, c, meaning = creatures.cells()
        r = r - row[lanes] + self._above
        c = c - column[lanes] + self._behind
        inside = (r >= 0) & (r < self.rows) & (c >= 0) & (c < self.columns)
        lanes, places, meaning = lanes[inside], (r * self.columns + c)[inside], meaning[inside]
        seen = ~IS_BLOCK.take(grid[lanes, places])
        grid[lanes[seen], places[seen]] = meaning[seen]
        return grid


def mario_cell(facts: MarioFacts) -> tuple[ram.Integers, ram.Integers]:
    """The row and the column that Mario's feet are in, [B] each; columns are counted from the left end of the area."""
    return (facts.y + CELL - TOP) // CELL, (facts.x + CELL // 2) // CELL


@lru_cache(maxsize=8)
def _block_places(above: int, below: int, behind: int, ahead: int) -> NDArray[np.int64]:
    """Where in memory the block of each cell stands: [rows Mario can be in times variants of columns, cells]."""
    mario_rows = np.arange(_HIGHEST_ROW, _LOWEST_ROW + 1)
    rows = mario_rows[:, None] + np.arange(-above, below + 1)  # [mario rows, rows]
    # Further from the start than that, what matters of a column is where memory wraps it to.
    own = np.concatenate([np.arange(_START_COLUMNS), np.arange(LEVEL_COLUMNS) + LEVEL_COLUMNS])
    cols = own[:, None] + np.arange(-behind, ahead + 1)  # [variants, columns]
    page, column = cols % LEVEL_COLUMNS // CELL, cols % CELL
    place = page[None, :, None, :] * (LEVEL_ROWS * CELL) + rows[:, None, :, None] * CELL + column[None, :, None, :]
    in_level = ((rows >= 0) & (rows < LEVEL_ROWS))[:, None, :, None] & (cols >= 0)[None, :, None, :]
    place = np.where(in_level, place, _NOWHERE)
    return place.reshape(len(mario_rows) * _VARIANTS, -1)


def _write_scalars(watched: Bytes, facts: MarioFacts, out: Floats) -> None:
    """[B, numbers], each brought to about -1 to 1."""
    held = byte(watched, ram.HELD_A_B)
    kind = byte(watched, ram.AREA_KIND)
    numbers = (
        (facts.x + CELL // 2) % CELL / CELL,
        facts.y % CELL / CELL,
        np.minimum(facts.x - screen_left(watched), 256) / 128 - 1,
        np.minimum(facts.y, 288) / 128 - 1,
        facts.x / 4096,
        facts.x_speed / 40,
        facts.y_speed / 5,
        byte(watched, ram.FACING) == 1,
        facts.float_state == ram.ON_GROUND,
        facts.float_state == ram.JUMPING,
        facts.float_state == ram.FALLING,
        facts.task == ram.TASK_CONTROLLED,
        held & ram.BUTTON_A_HELD != 0,
        held & ram.BUTTON_B_HELD != 0,
        facts.power / 2,
        byte(watched, ram.STAR_TIMER) != 0,
        byte(watched, ram.INJURY_TIMER) != 0,
        byte(watched, ram.CROUCHING) != 0,
        byte(watched, ram.SWIMMING) != 0,
        facts.time / 400,
        *(kind == number for number in range(4)),
    )
    for column, values in enumerate(numbers):
        out[:, column] = values


def _write_nearest(creatures: Creatures, out: Floats) -> None:
    """[B, NEAREST * 5]: the enemies and hazards that are closest to Mario from left to right."""
    dangerous = (creatures.meaning == Cell.ENEMY) | (creatures.meaning == Cell.HAZARD)
    far = np.where(dangerous, np.abs(creatures.dx), 1 << 20)
    slots = far.shape[1]
    order = far.argsort(axis=1, kind="stable")[:, :NEAREST]
    places = order + np.arange(0, far.size, slots)[:, None]
    there = far.take(places) < 256
    facts = (
        1.0,
        creatures.dx.take(places) / 64,
        creatures.dy.take(places) / 64,
        signed(creatures.x_speed.take(places)) / 16,
        creatures.meaning.take(places) == Cell.HAZARD,
    )
    for column, values in enumerate(facts):
        out[:, column :: len(facts)] = values * there
