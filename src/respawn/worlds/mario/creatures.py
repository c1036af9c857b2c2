"""Everything that moves and is not Mario: what it means to a player, and which cells its picture is in.

The places follow from what the game draws: tests/worlds/mario/test_creatures.py compares them with its sprites.
"""

import numpy as np
from numpy.typing import NDArray

from respawn.worlds.mario import ram
from respawn.worlds.mario.cells import CELL, TOP, Cell, Cells
from respawn.worlds.mario.ram import Bytes, Integers, MarioFacts, byte, columns, pixels, screen_left

CellList = tuple[NDArray[np.intp], Integers, Integers, Cells]
"""(lane, row, column, meaning) of cells, one entry each; what comes later lies on top."""

GOOMBA, PLANT, FLAME, BOWSER, SPRING = 0x06, 0x0D, 0x15, 0x2D, 0x32
FIRST_FIREBAR, LONG_FIREBAR = 0x1B, 0x1F
LARGE_LIFTS, SMALL_LIFTS = range(0x24, 0x2B), range(0x2B, 0x2D)
_STOMPED = (0x00, 0x01, 0x02, 0x03, 0x05, GOOMBA, 0x08, 0x0E, 0x0F, 0x10, 0x11, 0x14, 0x33)
_AVOIDED = (0x07, 0x0A, 0x0B, 0x0C, PLANT, 0x12, FLAME, *range(FIRST_FIREBAR, LONG_FIREBAR + 1), BOWSER)
_POWER_UP = 0x2E
_CASTLE = 3
_SQUASHED = 2
_ANGLES = 32
_SHORT_BALLS, _LONG_BALLS = 5, 11
_BALL_PIXELS = 8
_POINTS = 4
_KINDS = 256


def _creature_meanings() -> Cells:
    """What each kind of thing that moves means to a player."""
    meaning = np.full(256, Cell.EMPTY, np.uint8)
    meaning[list(_STOMPED)] = Cell.ENEMY
    meaning[list(_AVOIDED)] = Cell.HAZARD
    meaning[[*LARGE_LIFTS, *SMALL_LIFTS, SPRING]] = Cell.PLATFORM
    meaning[_POWER_UP] = Cell.ITEM
    return meaning


def _creature_points() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Places (x, y) from a creature's own, [2 * kinds, points] each; the cells these are in count as full of it.

    The second half is for areas in which large lifts are narrow.
    """
    points = np.empty((_KINDS, _POINTS, 2), np.int32)
    # Pictures are 16 wide; whatever the height, the lower 16 of 24 lines are what hurts.
    points[:] = (8, 16)
    points[PLANT] = ((0, 16), (15, 16)) * 2  # grows between two columns
    points[FLAME] = ((4, 4), (20, 4)) * 2
    points[SPRING] = (8, 8)
    points[FIRST_FIREBAR : LONG_FIREBAR + 1] = (4, 4)
    points[BOWSER] = ((8, 4), (8, 16)) * 2  # half of him: the other half has a slot of its own
    # The upper edge: then the row is the one under Mario's when he stands on it.
    points[LARGE_LIFTS] = ((8, 0), (24, 0), (40, 0), (40, 0))
    points[SMALL_LIFTS] = ((8, 0), (16, 0), (8, 128), (16, 128))  # two, half the picture apart
    narrow = points.copy()
    narrow[LARGE_LIFTS] = ((8, 0), (24, 0)) * 2
    both = np.concatenate([points, narrow])
    return both[:, :, 0].copy(), both[:, :, 1].copy()


def _ball_places() -> NDArray[np.int32]:
    """[angles, balls, 2]: where the middles of a firebar's balls are, from its own place."""
    radius = _BALL_PIXELS * np.arange(1, _LONG_BALLS + 1)
    angle = np.arange(_ANGLES)[:, None] * (2 * np.pi / _ANGLES)  # 0 is up, and it turns like a clock
    places = np.stack([radius * np.sin(angle), -radius * np.cos(angle)], axis=2)
    middles: NDArray[np.int32] = np.trunc(places).astype(np.int32) + _BALL_PIXELS // 2
    return middles


CREATURE_MEANING = _creature_meanings()
_POINTS_ACROSS, _POINTS_DOWN = _creature_points()
_BALLS = _ball_places()
_IS_FIREBAR = np.zeros(256, np.bool_)
_IS_FIREBAR[FIRST_FIREBAR : LONG_FIREBAR + 1] = True
_HEIGHTS = np.full(256, 0xFFFF, np.int32)
"""The bits that heights are counted in: small lifts leave the picture at one end and come in at the other."""
_HEIGHTS[SMALL_LIFTS] = 0xFF


class Creatures:
    """Everything that moves, by lane and slot, [B, slots] each."""

    def __init__(self, watched: Bytes, facts: MarioFacts) -> None:
        def slots(first: int) -> Bytes:
            return watched[:, columns(first, ram.ENEMY_SLOTS)]

        self._watched = watched
        castle, harder = byte(watched, ram.AREA_KIND) == _CASTLE, byte(watched, ram.HARDER) != 0
        self._narrow = (castle | harder) * _KINDS
        self.kind = slots(ram.ENEMY_KIND)
        active, state = slots(ram.ENEMY_ACTIVE), slots(ram.ENEMY_STATE)
        # A slot that only lends another one its sprites says so in its top bit, and its kind is an old one's.
        there = (active == 1) | ((active != 0) & (self.kind == BOWSER))
        gone = (state & ram.ENEMY_DEFEATED != 0) | ((self.kind == GOOMBA) & (state & 7 >= _SQUASHED))
        on_picture = slots(ram.ENEMY_Y_PAGE) == 1
        self.meaning = np.where(there & ~gone & on_picture, CREATURE_MEANING.take(self.kind), Cell.EMPTY)
        self.x = pixels(slots(ram.ENEMY_X_PAGE), slots(ram.ENEMY_X_LOW))
        self.y = slots(ram.ENEMY_Y_LOW).astype(np.int32)
        # A firebar, which stays where it is, counts the parts of its turns in that byte.
        self.x_speed = np.where(_IS_FIREBAR.take(self.kind), np.uint8(0), slots(ram.ENEMY_X_SPEED))
        self.dx = self.x - facts.x[:, None]
        self.dy = self.y - facts.y[:, None]

    def cells(self) -> CellList:
        """Every cell that something is in."""
        places = self.meaning.ravel().nonzero()[0]
        lanes = places // ram.ENEMY_SLOTS
        kind, meaning = self.kind.take(places), self.meaning.take(places)
        x, y = self.x.take(places), self.y.take(places)
        found = [_bodies(lanes, kind, x, y, meaning, self._narrow.take(lanes))]
        bars = _IS_FIREBAR.take(kind)
        if bars.any():
            # A bar whose middle has left the picture is neither drawn nor hot.
            bars &= x > screen_left(self._watched)[lanes]
            angle = self._watched[:, columns(ram.ENEMY_Y_SPEED, ram.ENEMY_SLOTS)].take(places)
            found.append(_firebars(lanes[bars], kind[bars], x[bars], y[bars], angle[bars]))
        thrown = self._watched[:, columns(ram.MISC_STATE, ram.MISC_SLOTS)] & np.uint8(ram.HAMMER)
        if thrown.any():
            found.append(_hammers(self._watched, thrown))
        if len(found) == 1:
            return found[0]
        lane, row, column, what = zip(*found, strict=True)
        return np.concatenate(lane), np.concatenate(row), np.concatenate(column), np.concatenate(what)


def _bodies(
    lanes: NDArray[np.intp], kind: Bytes, x: Integers, y: Integers, meaning: Cells, narrow: NDArray[np.intp]
) -> CellList:
    looks = kind + narrow
    height = (y[:, None] + _POINTS_DOWN.take(looks, axis=0)) & _HEIGHTS.take(kind)[:, None]
    return _listed(lanes, x[:, None] + _POINTS_ACROSS.take(looks, axis=0), height, meaning)


def _firebars(lanes: NDArray[np.intp], kind: Bytes, x: Integers, y: Integers, angle: Bytes) -> CellList:
    """The balls of turning bars of fire: the game keeps the angle in the byte of the vertical speed."""
    balls = _BALLS[angle % _ANGLES]  # [found, balls, 2]
    short = np.minimum(np.arange(_LONG_BALLS), _SHORT_BALLS - 1)
    balls = np.where((kind == LONG_FIREBAR)[:, None, None], balls, balls[:, short])
    hazard = np.full(len(lanes), Cell.HAZARD, np.uint8)
    return _listed(lanes, x[:, None] + balls[:, :, 0], y[:, None] + balls[:, :, 1], hazard)


def _hammers(watched: Bytes, thrown: Bytes) -> CellList:
    def slots(first: int) -> Bytes:
        return watched[:, columns(first, ram.MISC_SLOTS)]

    lanes, which = thrown.nonzero()
    x = pixels(slots(ram.MISC_X_PAGE)[lanes, which], slots(ram.MISC_X_LOW)[lanes, which])
    y = slots(ram.MISC_Y_LOW)[lanes, which].astype(np.int32)
    hazard = np.full(len(lanes), Cell.HAZARD, np.uint8)
    return _listed(lanes, x[:, None] + CELL // 2, y[:, None] + CELL // 2, hazard)


def _listed(lanes: NDArray[np.intp], x: Integers, y: Integers, meaning: Cells) -> CellList:
    """The cells that points [found, points] are in."""
    points = x.shape[1]
    return lanes.repeat(points), ((y - TOP) // CELL).ravel(), (x // CELL).ravel(), meaning.repeat(points)
