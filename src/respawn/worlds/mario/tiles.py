"""The level round Mario as a small grid of meanings, read from memory. Nothing has to be drawn for it.

A cell is 16 pixels wide and high, as the level's blocks are. The grid moves with Mario, so that what stands two cells
ahead of him is always in the same place. It shows what a player could see: what a brick holds stays hidden, and so do
invisible blocks.
"""

from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from respawn.worlds.mario import ram
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.ram import Bytes, MarioFacts, byte, columns, signed

Floats = NDArray[np.float32]
Cells = NDArray[np.uint8]

CELL = 16
LEVEL_ROWS, LEVEL_COLUMNS = 13, 32
TOP = 32
"""Where the first row of blocks begins: the status line is above it."""
NUM_PLANES = 4
NEAREST = 3
"""Enemies whose exact place is told on top of the grid."""
_NOWHERE = ram.BLOCK_BYTES
"""The place of a block that always reads as empty."""
_HIGHEST_ROW, _LOWEST_ROW = -8, 20
"""Rows in which Mario's own is counted; beyond them nothing of the level is in reach of the grid anyway."""


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


def _creature_meanings() -> Cells:
    """What each thing that moves means to a player."""
    meaning = np.full(256, Cell.EMPTY, np.uint8)
    stomped = (0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x08, 0x0E, 0x0F, 0x10, 0x11, 0x14, 0x33)
    avoided = (0x07, 0x0A, 0x0B, 0x0C, 0x0D, 0x12, 0x15, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x2D)
    meaning[list(stomped)] = Cell.ENEMY
    meaning[list(avoided)] = Cell.HAZARD
    meaning[0x24:0x2D] = Cell.PLATFORM
    meaning[0x2E] = Cell.ITEM
    meaning[0x32] = Cell.PLATFORM  # the spring
    return meaning


BLOCK_MEANING = _block_meanings()
CREATURE_MEANING = _creature_meanings()
_FIRST_FIREBAR, _LAST_FIREBAR, _LONG_FIREBAR = 0x1B, 0x1F, 0x1F
_FIRST_LARGE_LIFT, _LAST_LARGE_LIFT = 0x24, 0x2A
_BOWSER = 0x2D

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
        creatures = _Creatures(watched, facts)
        grid = self._cells(watched, facts, creatures)
        in_planes = self.rows * self.columns * NUM_PLANES
        observation[:, :in_planes] = _PACKED_PLANES.take(grid).view(np.float32)
        _write_scalars(watched, facts, observation[:, in_planes : in_planes + _OWN_SCALARS])
        _write_nearest(creatures, observation[:, in_planes + _OWN_SCALARS :])
        return observation

    def cells(self, watched: Bytes, facts: MarioFacts) -> Cells:
        """[B, rows, columns] meanings, Mario's own cell included: for people and for tests."""
        grid = self._cells(watched, facts, _Creatures(watched, facts)).reshape(-1, self.rows, self.columns)
        grid[:, self._above, self._behind] = Cell.MARIO
        return grid

    def _row_offsets(self, lanes: int) -> NDArray[np.int64]:
        if len(self._offsets) != lanes:
            self._offsets = np.arange(lanes)[:, None] * (ram.BLOCK_BYTES + 1)
        return self._offsets

    def _cells(self, watched: Bytes, facts: MarioFacts, creatures: "_Creatures") -> Cells:
        row, column = mario_cell(facts)
        blocks = np.empty((len(watched), ram.BLOCK_BYTES + 1), np.uint8)
        blocks[:, :-1] = watched[:, columns(ram.BLOCKS, ram.BLOCK_BYTES)]
        blocks[:, -1] = 0
        which = (np.clip(row, _HIGHEST_ROW, _LOWEST_ROW) - _HIGHEST_ROW) * LEVEL_COLUMNS + column % LEVEL_COLUMNS
        places = self._places.take(which, axis=0)
        places += self._row_offsets(len(watched))
        grid = BLOCK_MEANING.take(blocks.take(places))
        lanes, r, c, meaning = creatures.cells()
        r = r - row[lanes] + self._above
        c = c - column[lanes] + self._behind
        inside = (r >= 0) & (r < self.rows) & (c >= 0) & (c < self.columns)
        grid[lanes[inside], r[inside] * self.columns + c[inside]] = meaning[inside]
        return grid


def mario_cell(facts: MarioFacts) -> tuple[ram.Integers, ram.Integers]:
    """The row and the column that Mario's feet are in, [B] each; columns are counted from the left end of the area."""
    return (facts.y + CELL - TOP) // CELL, (facts.x + CELL // 2) // CELL


@lru_cache(maxsize=8)
def _block_places(above: int, below: int, behind: int, ahead: int) -> NDArray[np.int64]:
    """Where in memory the block of each cell stands: [rows Mario can be in times 32 columns, cells]."""
    mario_rows = np.arange(_HIGHEST_ROW, _LOWEST_ROW + 1)
    rows = mario_rows[:, None] + np.arange(-above, below + 1)  # [mario rows, rows]
    cols = (np.arange(LEVEL_COLUMNS)[:, None] + np.arange(-behind, ahead + 1)) % LEVEL_COLUMNS  # [32, columns]
    page, column = cols // CELL, cols % CELL
    place = page[None, :, None, :] * (LEVEL_ROWS * CELL) + rows[:, None, :, None] * CELL + column[None, :, None, :]
    in_level = (rows >= 0) & (rows < LEVEL_ROWS)
    place = np.where(in_level[:, None, :, None], place, _NOWHERE)
    return place.reshape(len(mario_rows) * LEVEL_COLUMNS, -1)


class _Creatures:
    """Everything that moves, by lane and slot, [B, slots] each."""

    def __init__(self, watched: Bytes, facts: MarioFacts) -> None:
        def slots(first: int) -> Bytes:
            return watched[:, columns(first, ram.ENEMY_SLOTS)]

        self._watched = watched
        self.kind = slots(ram.ENEMY_KIND)
        alive = (slots(ram.ENEMY_ACTIVE) != 0) & ((slots(ram.ENEMY_STATE) & ram.ENEMY_DEFEATED) == 0)
        on_picture = slots(ram.ENEMY_Y_PAGE) == 1
        self.meaning = np.where(alive & on_picture, CREATURE_MEANING[self.kind], Cell.EMPTY)
        self.x = slots(ram.ENEMY_X_PAGE).astype(np.int32) * 256 + slots(ram.ENEMY_X_LOW)
        self.y = slots(ram.ENEMY_Y_LOW).astype(np.int32)
        self.x_speed = slots(ram.ENEMY_X_SPEED)
        self.dx = self.x - facts.x[:, None]
        self.dy = self.y - facts.y[:, None]

    def cells(self) -> tuple[NDArray[np.intp], ram.Integers, ram.Integers, Cells]:
        """(lane, row, column, meaning) of every cell that something is in; what comes later lies on top."""
        lanes, slots = self.meaning.nonzero()
        kind, meaning = self.kind[lanes, slots], self.meaning[lanes, slots]
        row = (self.y[lanes, slots] + CELL // 2 - TOP) // CELL
        column = (self.x[lanes, slots] + CELL // 2) // CELL
        found = [(lanes, row, column, meaning)]
        large = (kind >= _FIRST_LARGE_LIFT) & (kind <= _LAST_LARGE_LIFT)
        found += [(lanes[large], row[large], column[large] + step, meaning[large]) for step in (1, 2)]
        bowser = kind == _BOWSER
        found += [
            (lanes[bowser], row[bowser] + r, column[bowser] + c, meaning[bowser]) for r, c in ((0, 1), (1, 0), (1, 1))
        ]
        found += _firebars(self._watched, lanes, slots, kind, self.x[lanes, slots], self.y[lanes, slots])
        found.append(_hammers(self._watched))
        parts = list(zip(*found, strict=True))
        return (
            np.concatenate(parts[0]), np.concatenate(parts[1]), np.concatenate(parts[2]), np.concatenate(parts[3])
        )  # fmt: skip


_CellList = tuple[NDArray[np.intp], ram.Integers, ram.Integers, Cells]


def _firebars(
    watched: Bytes,
    lanes: NDArray[np.intp],
    slots: NDArray[np.intp],
    kind: Bytes,
    x: ram.Integers,
    y: ram.Integers,
) -> list[_CellList]:
    """The balls of turning bars of fire: the game keeps an angle of 32, in the byte of the vertical speed."""
    bars = (kind >= _FIRST_FIREBAR) & (kind <= _LAST_FIREBAR)
    if not bars.any():
        return []
    lanes, slots, kind, x, y = lanes[bars], slots[bars], kind[bars], x[bars], y[bars]
    angle = watched[:, columns(ram.ENEMY_Y_SPEED, ram.ENEMY_SLOTS)][lanes, slots] % 32 * (2 * np.pi / 32)
    found = []
    for ball in range(2, 12, 2):  # every second one: they are half a cell apart
        there = (kind == _LONG_FIREBAR) | (ball < 6)
        column = (x + 4 + np.rint(8 * ball * np.sin(angle)).astype(np.int32))[there] // CELL
        row = (y + 4 - np.rint(8 * ball * np.cos(angle)).astype(np.int32) - TOP)[there] // CELL
        found.append((lanes[there], row, column, np.full(there.sum(), Cell.HAZARD, np.uint8)))
    return found


def _hammers(watched: Bytes) -> _CellList:
    def slots(first: int) -> Bytes:
        return watched[:, columns(first, ram.MISC_SLOTS)]

    lanes, which = (slots(ram.MISC_STATE) & ram.HAMMER).nonzero()
    x = slots(ram.MISC_X_PAGE)[lanes, which].astype(np.int32) * 256 + slots(ram.MISC_X_LOW)[lanes, which]
    y = slots(ram.MISC_Y_LOW)[lanes, which].astype(np.int32)
    return lanes, (y + CELL // 2 - TOP) // CELL, (x + CELL // 2) // CELL, np.full(len(lanes), Cell.HAZARD, np.uint8)


def _write_scalars(watched: Bytes, facts: MarioFacts, out: Floats) -> None:
    """[B, numbers], each brought to about -1 to 1."""
    held = byte(watched, ram.HELD_A_B)
    screen = byte(watched, ram.SCREEN_PAGE).astype(np.int32) * 256 + byte(watched, ram.SCREEN_LOW)
    kind = byte(watched, ram.AREA_KIND)
    numbers = (
        (facts.x + CELL // 2) % CELL / CELL,
        facts.y % CELL / CELL,
        np.minimum(facts.x - screen, 256) / 128 - 1,
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


def _write_nearest(creatures: _Creatures, out: Floats) -> None:
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
