"""A game that needs no ROM: a small course that keeps its facts where Super Mario Bros. keeps them.

On every level there are, from left to right: an enemy that walks to and fro, a pipe that DOWN enters (in second stages
it leads a world further, else to another area of the level), a pit and a goal. In mazes, who walks instead of jumping
past a fork is thrown back. A clock runs. Everything follows from the buttons.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from respawn.errors import ConfigError
from respawn.worlds.mario import ram
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.engine import Bytes, Numbers, PoolConfig
from respawn.worlds.mario.levels import MAZES, Level
from respawn.worlds.mario.ram import MAZE_WARP_PIXELS
from respawn.worlds.mario.starts import Starts

START_X, GROUND_Y = 40, 176
PIPE = range(240, 272)
ENEMY_WALK = 16
FORK_X, GOAL_X = 1_100, 1_300
TICK_FRAMES = 24
_WALK, _RUN, _JUMP, _FALL, _FASTEST_FALL = 24, 40, -80, 5, 64  # sixteenths of a pixel a frame
_SCENE_FRAMES = 30
"""How long dying, the flagpole and the like take."""
_GROUND, _BRICK, _POLE = 0x54, 0x51, 0x25
_GOOMBA = 0x06
_UNDER_THE_PICTURE = 320
_SKY, _EARTH, _RED, _BROWN = (92, 148, 252), (200, 76, 12), (248, 56, 0), (120, 60, 0)


def pit_columns(level: Level) -> range:
    """Where a level's ground is missing."""
    first = 26 + (level.world * 3 + level.stage) % 5
    return range(first, first + 2)


def enemy_x(level: Level) -> int:
    """Where a level's enemy walks, from here to `ENEMY_WALK` pixels further right."""
    return 136 + 8 * ((level.world + level.stage) % 4)


@dataclass
class _Console:
    """One console: whole numbers only, so that a state is a row of them."""

    world: int = 1
    stage: int = 1
    area: int = 0
    x: int = START_X * 16
    y: int = GROUND_Y * 16
    x_speed: int = 0
    y_speed: int = 0
    task: int = ram.TASK_CONTROLLED
    scene: int = 0
    mode: int = ram.MODE_PLAYING
    lives: int = 3
    score: int = 0
    time: int = 400
    late: int = 0
    frame: int = 0
    held: int = 0
    left_edge: int = 0

    @property
    def level(self) -> Level:
        return Level(self.world, self.stage)

    @property
    def enemy(self) -> int:
        walked = self.frame % (4 * ENEMY_WALK) // 2
        return enemy_x(self.level) + (walked if walked < ENEMY_WALK else 2 * ENEMY_WALK - walked)

    @property
    def in_bonus_area(self) -> bool:
        return self.area > self.level.area

    def run(self, buttons: int) -> None:
        """One frame."""
        self.frame += 1
        if self.mode == ram.MODE_GAME_OVER:
            return
        if self.scene > 0:
            self.scene -= 1
            if self.scene == 0:
                self._end_scene()
            return
        if self.frame % TICK_FRAMES == 0:
            self.time -= 1
        self._move(buttons)
        self._judge(buttons)
        self.held = buttons

    def _move(self, buttons: int) -> None:
        wish = bool(buttons & BUTTONS["RIGHT"]) - bool(buttons & BUTTONS["LEFT"])
        goal = wish * (_RUN if buttons & BUTTONS["B"] else _WALK)
        self.x_speed += (goal > self.x_speed) - (goal < self.x_speed)
        stands = self.y == GROUND_Y * 16 and self.y_speed == 0
        if stands and buttons & BUTTONS["A"] and not self.held & BUTTONS["A"]:
            self.y_speed = _JUMP
            stands = False
        self.x = max(self.x + self.x_speed, self.left_edge * 16)
        over_pit = not self.in_bonus_area and (self.x // 16 + 8) // 16 in pit_columns(self.level)
        if not stands or over_pit:
            above = self.y <= GROUND_Y * 16
            self.y += self.y_speed
            self.y_speed = min(self.y_speed + _FALL, _FASTEST_FALL)
            if above and self.y >= GROUND_Y * 16 and not over_pit:
                self.y, self.y_speed = GROUND_Y * 16, 0
        self.left_edge = max(self.left_edge, self.x // 16 - 112)

    def _judge(self, buttons: int) -> None:
        x, y = self.x // 16, self.y // 16
        stands = y == GROUND_Y
        if self.time <= 0:
            self.late = 1
            self._begin_scene(ram.TASK_DYING)
        elif y >= _UNDER_THE_PICTURE:
            self._begin_scene(ram.TASK_LIFE_LOST)
        elif not self.in_bonus_area and abs(x - self.enemy) < 12 and y > GROUND_Y - 16:
            if self.y_speed > 0:
                self.score, self.y_speed = self.score + 100, _JUMP // 2
            elif stands:
                self._begin_scene(ram.TASK_DYING)
        elif stands and buttons & BUTTONS["DOWN"] and x in PIPE and not self.in_bonus_area:
            self._begin_scene(ram.TASK_PIPE)
        elif str(self.level) in MAZES and FORK_X <= x < FORK_X + 8 and stands:
            self.x -= MAZE_WARP_PIXELS * 16
            self.left_edge = max(self.left_edge - MAZE_WARP_PIXELS, 0)
        elif x >= GOAL_X and self.stage == 4:
            self.mode = ram.MODE_VICTORY
            self._begin_scene(0)
        elif x >= GOAL_X:
            self._begin_scene(ram.TASK_FLAGPOLE)

    def _begin_scene(self, task: int) -> None:
        self.task, self.scene, self.x_speed, self.y_speed = task, _SCENE_FRAMES, 0, 0

    def _end_scene(self) -> None:
        ended, level = self.task, self.level
        if self.mode == ram.MODE_VICTORY and self.world == 8:
            self.scene = _SCENE_FRAMES
            return
        if ended in {ram.TASK_DYING, ram.TASK_LIFE_LOST}:
            self.lives -= 1
            if self.lives == 0:
                self.mode = ram.MODE_GAME_OVER
                return
        elif ended == ram.TASK_PIPE and self.stage != 2:
            self.area = level.area + 1
        elif ended == ram.TASK_PIPE or self.stage == 4:
            self.world, self.stage = self.world + 1, 1
        else:
            self.stage += 1
        if ended != ram.TASK_PIPE or self.level != level:
            self.area, self.time = self.level.area, 400
        self.mode, self.task, self.late, self.left_edge = ram.MODE_PLAYING, ram.TASK_CONTROLLED, 0, 0
        self.x, self.y, self.x_speed, self.y_speed = START_X * 16, GROUND_Y * 16, 0, 0

    def memory(self) -> Bytes:
        """The bytes that the game would hold."""
        made = np.zeros(2048, np.uint8)
        x, y = self.x // 16, self.y // 16
        for address, value in (
            (ram.TASK, self.task), (ram.FLOAT_STATE, int(y != GROUND_Y)), (ram.FACING, 1 if self.x_speed >= 0 else 2),
            (ram.X_SPEED, self.x_speed & 0xFF), (ram.X_PAGE, x // 256), (ram.X_LOW, x % 256),
            (ram.Y_SPEED, self.y_speed // 16 & 0xFF), (ram.Y_PAGE, y // 256 + 1), (ram.Y_LOW, y % 256),
            (ram.SCREEN_PAGE, self.left_edge // 256), (ram.SCREEN_LOW, self.left_edge % 256),
            (ram.AREA_KIND, {2: 2, 4: 3}.get(self.stage, 1)), (ram.LAYOUT_LOW, self.area + 0x20),
            (ram.TIME_RAN_OUT, self.late), (ram.LIVES, self.lives - 1 & 0xFF), (ram.LEVEL_STAGE, self.stage - 1),
            (ram.LEVEL_WORLD, self.world - 1), (ram.AREA, self.area), (ram.MODE, self.mode), (ram.MODE_TASK, 3),
        ):  # fmt: skip
            made[address] = value
        if not self.in_bonus_area:
            for address, value in (
                (ram.ENEMY_ACTIVE, 1), (ram.ENEMY_KIND, _GOOMBA), (ram.ENEMY_X_PAGE, self.enemy // 256),
                (ram.ENEMY_X_LOW, self.enemy % 256), (ram.ENEMY_Y_PAGE, 1), (ram.ENEMY_Y_LOW, GROUND_Y + 8),
            ):  # fmt: skip
                made[address] = value
        made[ram.SCORE_DIGITS : ram.SCORE_DIGITS + 6] = [int(digit) for digit in f"{self.score // 10:06d}"]
        made[ram.TIME_DIGITS : ram.TIME_DIGITS + 3] = [int(digit) for digit in f"{max(self.time, 0):03d}"]
        page = self.left_edge // 256
        for shown in (page, page + 1):
            first = ram.BLOCKS + shown % 2 * 208
            made[first : first + 208] = self._blocks(shown).ravel()
        return made

    def _blocks(self, page: int) -> Bytes:
        return _course(self.level, page, with_pit=not self.in_bonus_area)

    def picture(self, height: int = 240, width: int = 256) -> Bytes:
        """[height, width, 3] RGB; of a smaller picture, each pixel stands for those that fall away."""
        lines, columns = np.arange(height) * 240 // height, np.arange(width) * 256 // width
        page, within = divmod(self.left_edge, 256)
        blocks = np.concatenate([self._blocks(page), self._blocks(page + 1)], axis=1)
        rows = lines // 16 - 2  # the first two are for the status line
        shown = blocks[np.maximum(rows, 0)[:, None], (columns + within) // 16] * (rows >= 0)[:, None]
        drawn: Bytes = np.array((_SKY, _EARTH), np.uint8).take((shown != 0).astype(np.intp), axis=0)
        for x, y, colour in ((self.enemy, GROUND_Y + 16, _BROWN), (self.x // 16, self.y // 16 + 16, _RED)):
            inside = (lines >= y) & (lines < y + 16)
            drawn[np.ix_(inside, (columns >= x - self.left_edge) & (columns < x - self.left_edge + 16))] = colour
        return drawn


@lru_cache(maxsize=256)
def _course(level: Level, page: int, *, with_pit: bool) -> Bytes:
    """[13, 16]: one screen of blocks."""
    blocks = np.zeros((13, 16), np.uint8)
    columns = np.arange(page * 16, page * 16 + 16)
    blocks[11:, ~np.isin(columns, pit_columns(level)) | (not with_pit)] = _GROUND
    blocks[7, columns % 16 == 5] = _BRICK
    blocks[3:11, columns == GOAL_X // 16] = _POLE
    return blocks


_FIELDS = len(fields(_Console))


class FakePool:
    """Many such consoles, stepped in one call; see `respawn.worlds.mario.engine.Pool`."""

    def __init__(self, config: PoolConfig) -> None:
        if config.stack != 1 or config.kind == "indices":
            raise ConfigError("a fake pool shows one RGB or grey picture at a time; make it with stack=1")
        if config.max_of_two and config.skip < 2:
            raise ConfigError("max_of_two takes the last two frames of a step, but skip is 1; use 2 or more")
        self._config = config
        self._consoles = [_Console() for _ in range(config.lanes)]
        self._pictures = np.zeros((config.lanes, *self._shape), np.uint8)
        self._starts = np.zeros((0, self.state_bytes), np.uint8)
        self._watch = np.array(config.watch, np.intp)

    @property
    def state_bytes(self) -> int:
        """The size of one console's state."""
        return _FIELDS * 4

    @property
    def _shape(self) -> tuple[int, ...]:
        return (240, 256, 3) if self._config.kind == "rgb" else (self._config.height, self._config.width)

    def step(self, buttons: Bytes, frames: Bytes | None = None, ram: Bytes | None = None) -> None:
        """Run every lane for as many frames as a decision holds."""
        kept = 2 if self._config.max_of_two else 1
        for lane, console in enumerate(self._consoles):
            drawn = []
            for left in reversed(range(self._config.skip)):
                console.run(int(buttons[lane]))
                if self._config.kind != "none" and left < kept:
                    drawn.append(self._draw(console))
            if drawn:
                self._pictures[lane] = np.maximum.reduce(drawn)
        self.observe(frames, ram)

    def _draw(self, console: _Console) -> Bytes:
        return console.picture() if self._config.kind == "rgb" else _grey(console, *self._shape)

    def observe(self, frames: Bytes | None = None, ram: Bytes | None = None) -> None:
        """Write what `step` would write, without running."""
        if frames is not None:
            frames[:, 0] = self._pictures
        if ram is not None:
            for lane, console in enumerate(self._consoles):
                ram[lane] = console.memory()[self._watch]

    def set_starts(self, states: Bytes) -> None:
        """Copy the table that lanes restart from."""
        self._starts = states.copy()

    def load(self, lanes: Numbers, starts: Numbers) -> None:
        """Restart these lanes from these entries of the table."""
        self.load_states(lanes, self._starts[starts])

    def save_states(self, lanes: Numbers) -> Bytes:
        """The states of these lanes."""
        return np.stack([_saved(self._consoles[lane]) for lane in lanes])

    def load_states(self, lanes: Numbers, states: Bytes) -> None:
        """Set the states of these lanes; their pictures become black."""
        if states.dtype != np.uint8 or states.shape != (len(lanes), self.state_bytes):
            raise ValueError(f"states must be uint8[{len(lanes)}, {self.state_bytes}], and {states.shape} came")
        for lane, state in zip(lanes, states, strict=True):
            self._consoles[lane] = _Console(*np.ascontiguousarray(state).view(np.int32).tolist())
        self._pictures[lanes] = 0


class FakeGame:
    """A cartridge with the course on it; see `respawn.worlds.mario.starts.Game`."""

    def pool(self, config: PoolConfig) -> FakePool:
        """Consoles that play it."""
        return FakePool(config)

    def level_starts(self, level: Level, most_waiting_frames: int, picture_size: int) -> Starts:
        """A level's beginning, and after each frame of standing still."""
        moments = list(_wait(level, most_waiting_frames))
        pictures = [_grey(console, picture_size, picture_size) for console in moments]
        return Starts(np.stack([_saved(console) for console in moments]), np.stack(pictures))


def _wait(level: Level, most_frames: int) -> Iterator[_Console]:
    for frames in range(most_frames + 1):
        console = _Console(world=level.world, stage=level.stage, area=level.area)
        for _ in range(frames):
            console.run(0)
        yield console


def _saved(console: _Console) -> NDArray[np.uint8]:
    return np.array(astuple(console), np.int32).view(np.uint8)


def _grey(console: _Console, height: int, width: int) -> Bytes:
    grey: Bytes = console.picture(height, width)[:, :, 0]
    return grey
