"""Memories of the game made by hand, for tests that need no game."""

import numpy as np

from respawn.worlds.mario import ram

START_X, START_Y = 40, 176
GROUND_ROW = 11
_TILES_A_PAGE = 208


def memory(**bytes_at: int):
    """2,048 bytes in which Mario stands where levels begin; names are those of `ram`, in small letters."""
    made = np.zeros(2048, np.uint8)
    made[[ram.TASK, ram.MODE, ram.MODE_TASK, ram.Y_PAGE, ram.FACING, ram.AREA_KIND]] = 8, 1, 3, 1, 1, 1
    made[ram.LIVES] = 2
    made[ram.TIME_DIGITS : ram.TIME_DIGITS + 3] = 4, 0, 0
    place_mario(made, START_X, START_Y)
    for name, value in bytes_at.items():
        made[getattr(ram, name.upper())] = value
    return made


def place_mario(made, x, y):
    made[ram.X_PAGE], made[ram.X_LOW] = divmod(x, 256)
    made[ram.Y_PAGE], made[ram.Y_LOW] = y // 256 + 1, y % 256


def put_block(made, row, column, block):
    page, inside = divmod(column % 32, 16)
    made[ram.BLOCKS + page * _TILES_A_PAGE + row * 16 + inside] = block


def put_creature(made, slot, kind, x, y, *, active=1, state=0, y_page=1, angle=0):
    for address, value in (
        (ram.ENEMY_ACTIVE, active),
        (ram.ENEMY_KIND, kind),
        (ram.ENEMY_STATE, state),
        (ram.ENEMY_X_PAGE, x // 256),
        (ram.ENEMY_X_LOW, x % 256),
        (ram.ENEMY_Y_PAGE, y_page),
        (ram.ENEMY_Y_LOW, y),
        (ram.ENEMY_Y_SPEED, angle),
    ):
        made[address + slot] = value


def watched(*memories):
    """What a pool would report of these memories, one lane each."""
    return np.stack(memories)[:, list(ram.WATCHED)]
