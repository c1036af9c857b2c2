"""Where Super Mario Bros. keeps what it knows: every address named once, and bytes turned into facts.

The names follow what the bytes mean to a player. All of it was checked on the running game: tests/worlds/mario.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int32]

ENEMY_SLOTS = 6
"""Five for enemies and lifts, and a sixth that only power-ups and the like use."""
MISC_SLOTS = 9
"""Hammers and coins that jump out of blocks."""
BLOCK_BYTES = 416
"""Two screens of 13 rows of 16 blocks: what stands where, for as far as the level is laid out."""

# The player.
TASK = 0x000E
FLOAT_STATE = 0x001D
FACING = 0x0033
X_SPEED = 0x0057
X_PAGE = 0x006D
X_LOW = 0x0086
Y_SPEED = 0x009F
Y_PAGE = 0x00B5
Y_LOW = 0x00CE
HELD_A_B = 0x000A
SWIMMING = 0x0704
CROUCHING = 0x0714
POWER = 0x0756
STAR_TIMER = 0x079F
INJURY_TIMER = 0x079E

# Enemies, lifts and power-ups, one byte a slot.
ENEMY_ACTIVE = 0x000F
ENEMY_KIND = 0x0016
ENEMY_STATE = 0x001E
ENEMY_X_SPEED = 0x0058
ENEMY_X_PAGE = 0x006E
ENEMY_X_LOW = 0x0087
ENEMY_Y_SPEED = 0x00A0
ENEMY_Y_PAGE = 0x00B6
ENEMY_Y_LOW = 0x00CF

# Hammers and jumping coins, one byte a slot.
MISC_STATE = 0x002A
MISC_X_PAGE = 0x007A
MISC_X_LOW = 0x0093
MISC_Y_LOW = 0x00DB

# The level.
LAYOUT_LOW = 0x00E7
LAYOUT_HIGH = 0x00E8
BLOCKS = 0x0500
HARDER = 0x06CC
SCREEN_PAGE = 0x071A
SCREEN_LOW = 0x071C
CLOUDS = 0x0743
AREA_KIND = 0x074E
TIME_RAN_OUT = 0x0759
LIVES = 0x075A
LEVEL_STAGE = 0x075C
COINS = 0x075E
LEVEL_WORLD = 0x075F
AREA = 0x0760
MODE = 0x0770
MODE_TASK = 0x0772
SCORE_DIGITS = 0x07DD
TIME_DIGITS = 0x07F8

# What some of them can be.
TASK_CLIMBING, TASK_SIDE_PIPE, TASK_PIPE = 1, 2, 3
TASK_FLAGPOLE, TASK_WALKING_OFF, TASK_LIFE_LOST, TASK_CONTROLLED, TASK_DYING = 4, 5, 6, 8, 11
MODE_TITLE, MODE_PLAYING, MODE_VICTORY, MODE_GAME_OVER = 0, 1, 2, 3
ON_GROUND, JUMPING, FALLING, ON_FLAGPOLE = 0, 1, 2, 3
BUTTON_A_HELD, BUTTON_B_HELD = 0x80, 0x40
ENEMY_DEFEATED = 0x20
HAMMER = 0x80
_UNDER_THE_PICTURE = 256
"""Heights are counted from the top: who is as low as this is no longer seen."""
MAZE_WARP_PIXELS = 1024
"""How far a wrong turn in a maze throws Mario back: four screens, all at once."""

_SINGLES = (
    TASK, FLOAT_STATE, FACING, X_SPEED, X_PAGE, X_LOW, Y_SPEED, Y_PAGE, Y_LOW, HELD_A_B, SWIMMING, CROUCHING, POWER,
    STAR_TIMER, INJURY_TIMER, HARDER, SCREEN_PAGE, SCREEN_LOW, CLOUDS, AREA_KIND, TIME_RAN_OUT, LIVES,
    LAYOUT_LOW, LAYOUT_HIGH, LEVEL_STAGE, COINS, LEVEL_WORLD, AREA, MODE, MODE_TASK,
)  # fmt: skip
_RUNS = (
    (ENEMY_ACTIVE, ENEMY_SLOTS),
    (ENEMY_KIND, ENEMY_SLOTS),
    (ENEMY_STATE, ENEMY_SLOTS),
    (ENEMY_X_SPEED, ENEMY_SLOTS),
    (ENEMY_X_PAGE, ENEMY_SLOTS),
    (ENEMY_X_LOW, ENEMY_SLOTS),
    (ENEMY_Y_SPEED, ENEMY_SLOTS),
    (ENEMY_Y_PAGE, ENEMY_SLOTS),
    (ENEMY_Y_LOW, ENEMY_SLOTS),
    (MISC_STATE, MISC_SLOTS),
    (MISC_X_PAGE, MISC_SLOTS),
    (MISC_X_LOW, MISC_SLOTS),
    (MISC_Y_LOW, MISC_SLOTS),
    (SCORE_DIGITS, 6),
    (TIME_DIGITS, 3),
    (BLOCKS, BLOCK_BYTES),
)

WATCHED = (*_SINGLES, *(address for first, count in _RUNS for address in range(first, first + count)))
"""The addresses that a pool of consoles reports after each step, in this order."""

_COLUMN = {address: column for column, address in enumerate(WATCHED)}
_SCORE_WORTH = np.array([1_000_000, 100_000, 10_000, 1_000, 100, 10], np.int32)
_TIME_WORTH = np.array([100, 10, 1], np.int32)


def columns(first: int, count: int) -> slice:
    """Where `count` watched bytes from address `first` on stand in a row."""
    return slice(_COLUMN[first], _COLUMN[first] + count)


def byte(rows: Bytes, address: int) -> Bytes:
    """[B] one watched byte of each row."""
    return rows[:, _COLUMN[address]]


@dataclass(frozen=True, slots=True)
class MarioFacts:
    """What the rules need to know about B lanes; int32 [B] each unless said otherwise."""

    x: Integers
    """pixels from the left end of the area; a little under 0 after a turn of some mazes"""
    y: Integers
    """pixels from the top of the picture; grows downwards, above 255 is under the picture"""
    x_speed: Integers
    """sixteenths of a pixel a frame, to the right"""
    y_speed: Integers
    """pixels a frame, downwards"""
    task: Integers
    """what the game does with Mario: 8 is when he obeys"""
    float_state: Integers
    """0 on the ground, 1 jumping, 2 falling, 3 on the flagpole"""
    swimming: Integers
    """1 in water"""
    world: Integers
    """1 to 8"""
    stage: Integers
    """1 to 4"""
    area: Integers
    """which part of the level; pipes and vines lead from one to another"""
    layout: Integers
    """where the game reads the area from; bonus rooms differ in it from the area that leads there"""
    lives: Integers
    """left, this one included; 0 when the game is over"""
    coins: Integers
    score: Integers
    time: Integers
    """that the clock still shows"""
    power: Integers
    """0 small, 1 big, 2 with fire"""
    mode: Integers
    """0 title, 1 playing, 2 victory, 3 game over"""
    time_ran_out: Integers
    """1 if the clock took this life"""
    clouds: Integers
    """not 0 where falling leads back to the ground and takes no life"""

    def take(self, lanes: Integers | NDArray[np.intp]) -> "MarioFacts":
        """The facts of some lanes."""
        return MarioFacts(*(getattr(self, field.name)[lanes] for field in fields(self)))

    def put(self, lanes: Integers | NDArray[np.intp], others: "MarioFacts") -> None:
        """Overwrite the facts of some lanes."""
        for field in fields(self):
            getattr(self, field.name)[lanes] = getattr(others, field.name)

    def state(self) -> dict[str, Integers]:
        """As a part of a checkpoint."""
        return {field.name: getattr(self, field.name).copy() for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, Integers]) -> "MarioFacts":
        """What `state` wrote."""
        return cls(**{name: np.array(np.asarray(values), np.int32) for name, values in state.items()})


def read_facts(rows: Bytes) -> MarioFacts:
    """Facts from what a pool watched, uint8[B, len(WATCHED)]."""
    wide = rows[:, : len(_SINGLES)].astype(np.int32)

    def single(address: int) -> Integers:
        return wide[:, _COLUMN[address]]

    return MarioFacts(
        x=pixels(byte(rows, X_PAGE), byte(rows, X_LOW)),
        y=height(rows),
        x_speed=signed(byte(rows, X_SPEED)),
        y_speed=signed(byte(rows, Y_SPEED)),
        task=single(TASK),
        float_state=single(FLOAT_STATE),
        swimming=single(SWIMMING),
        world=single(LEVEL_WORLD) + 1,
        stage=single(LEVEL_STAGE) + 1,
        area=single(AREA),
        layout=single(LAYOUT_HIGH) * 256 + single(LAYOUT_LOW),
        lives=(single(LIVES) + 1) & 0xFF,
        coins=single(COINS),
        score=rows[:, columns(SCORE_DIGITS, 6)] @ _SCORE_WORTH,
        time=rows[:, columns(TIME_DIGITS, 3)] @ _TIME_WORTH,
        power=single(POWER),
        mode=single(MODE),
        time_ran_out=single(TIME_RAN_OUT),
        clouds=single(CLOUDS),
    )


def height(rows: Bytes) -> Integers:
    """[B] how far down Mario is. The page is 1 on the picture: above it, under it and on it follow from one number."""
    return (byte(rows, Y_PAGE).astype(np.int32) - 1) * 256 + byte(rows, Y_LOW)


def has_fallen(down: Integers, clouds: Integers | Bytes, mode: Integers | Bytes) -> NDArray[np.bool_]:
    """[B] whether Mario is under the picture, where that costs a life; the game takes note a second or more later."""
    fallen: NDArray[np.bool_] = (down >= _UNDER_THE_PICTURE) & (clouds == 0) & (mode != MODE_VICTORY)
    return fallen


def screen_left(rows: Bytes) -> Integers:
    """[B] where the picture begins: pixels from the left end of the area."""
    return pixels(byte(rows, SCREEN_PAGE), byte(rows, SCREEN_LOW))


def pixels(pages: Bytes, lows: Bytes) -> Integers:
    """Places from left to right. A maze can throw Mario back a little beyond the left end, to page -1."""
    return signed(pages) * 256 + lows


def signed(values: Bytes) -> Integers:
    """Bytes read as numbers from -128 to 127."""
    return values.view(np.int8).astype(np.int32)
