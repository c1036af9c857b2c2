from collections import Counter

import numpy as np
import pytest
from flights import fly, sprites, the_cartridge
from memories import memory, put_creature, watched

from respawn.worlds.mario import ram
from respawn.worlds.mario.cells import BLOCK_MEANING, IS_BLOCK, Cell
from respawn.worlds.mario.creatures import BOWSER, FLAME, GOOMBA, LARGE_LIFTS, PLANT, SMALL_LIFTS, SPRING, Creatures
from respawn.worlds.mario.ram import read_facts, screen_left
from respawn.worlds.mario.tiles import mario_cell

KOOPA, PODOBOO, HAMMER_BROTHER, FIREBAR, LONG_FIREBAR = 0x00, 0x0C, 0x05, 0x1D, 0x1F
LENT = 0x80
PASSES_WALLS = 0x0716
CASTLE, OUTSIDE = 3, 1
CREATURES_SPRITES, HAMMERS_SPRITES, MARIOS_SPRITES = 0x06E5, 0x06F3, 0x06E4
BALLS, BLANK = {0x64, 0x65}, 0xFC


def found(made):
    """{(row, column): meaning} of everything that moves."""
    rows = watched(made)
    _, row, column, meaning = Creatures(rows, read_facts(rows)).cells()
    return {(int(r), int(c)): Cell(m) for r, c, m in zip(row, column, meaning, strict=True)}


def alone(kind, x, y, area_kind=OUTSIDE, harder=0, **more):
    made = memory(area_kind=area_kind, harder=harder)
    put_creature(made, 1, kind, x, y, **more)
    return found(made)


class TestCells:
    def test_a_walker_is_in_the_cell_of_its_feet(self):
        # On the ground, which is row 11: lines 208 and on.
        assert alone(GOOMBA, 320, 184) == {(10, 20): Cell.ENEMY}
        assert alone(GOOMBA, 327, 177) == {(10, 20): Cell.ENEMY}
        assert alone(GOOMBA, 328, 175) == {(9, 21): Cell.ENEMY}

    def test_a_plant_is_in_both_columns_of_its_pipe(self):
        assert alone(PLANT, 328, 120) == {(6, 20): Cell.HAZARD, (6, 21): Cell.HAZARD}

    def test_a_flame_is_thin_and_wide(self):
        assert alone(FLAME, 328, 120) == {(5, 20): Cell.HAZARD, (5, 21): Cell.HAZARD}

    @pytest.mark.parametrize("kind", LARGE_LIFTS)
    def test_a_large_lift_is_three_wide_or_two_where_the_game_is_harder(self, kind):
        three = {(4, column): Cell.PLATFORM for column in (20, 21, 22)}
        two = {(4, column): Cell.PLATFORM for column in (20, 21)}
        assert alone(kind, 320, 96) == three
        assert alone(kind, 320, 96, area_kind=CASTLE) == two
        assert alone(kind, 320, 96, harder=1) == two

    @pytest.mark.parametrize("kind", SMALL_LIFTS)
    def test_small_lifts_come_in_pairs(self, kind):
        assert set(alone(kind, 320, 96)) == {(4, 20), (4, 21), (12, 20), (12, 21)}
        assert set(alone(kind, 320, 192)) == {(10, 20), (10, 21), (2, 20), (2, 21)}

    def test_a_spring_is_in_its_upper_cell(self):
        assert alone(SPRING, 320, 176) == {(9, 20): Cell.PLATFORM}

    def test_bowser_has_two_halves(self):
        made = memory(area_kind=CASTLE)
        put_creature(made, 2, BOWSER, 320, 128)
        put_creature(made, 3, BOWSER, 336, 136, active=LENT | 2)
        assert found(made) == {(row, column): Cell.HAZARD for row in (6, 7) for column in (20, 21)}

    @pytest.mark.parametrize(
        ("angle", "step", "cells", "of_long"),
        [(0, (-1, 0), 3, 6), (8, (0, 1), 4, 7), (16, (1, 0), 4, 7), (24, (0, -1), 3, 6)],
        ids=["up", "right", "down", "left"],
    )
    def test_a_firebar_points_where_it_has_turned_to(self, angle, step, cells, of_long):
        # Its middle is that of the block at row 5, column 20; balls that are half in a cell count for the second half.
        for kind, reach in ((FIREBAR, cells), (LONG_FIREBAR, of_long)):
            pointing = {(5 + i * step[0], 20 + i * step[1]): Cell.HAZARD for i in range(reach)}
            assert alone(kind, 324, 116, angle=angle) == pointing

    def test_a_firebar_that_has_left_the_picture_is_out(self):
        made = memory(screen_page=1, screen_low=68)
        put_creature(made, 0, FIREBAR, 324, 116, angle=8)
        assert found(made) == {(5, 20): Cell.HAZARD}, "only what is in its block"
        made[ram.SCREEN_LOW] = 67
        assert len(found(made)) == 4

    def test_hammers_fly_in_slots_of_their_own(self):
        made = memory()
        made[ram.MISC_STATE + 3], made[ram.MISC_X_PAGE + 3], made[ram.MISC_X_LOW + 3] = 0x90, 1, 64
        made[ram.MISC_Y_LOW + 3] = 100
        assert found(made) == {(4, 20): Cell.HAZARD}
        made[ram.MISC_STATE + 3] = 1  # a coin out of a block
        assert found(made) == {}

    @pytest.mark.parametrize(
        "gone",
        [
            {"kind": GOOMBA, "active": 0},
            {"kind": GOOMBA, "state": ram.ENEMY_DEFEATED},
            {"kind": GOOMBA, "state": 4},
            {"kind": KOOPA, "active": LENT | 2},
            {"kind": PODOBOO, "y_page": 2},
            {"kind": 0x35},
        ],
        ids=["no longer there", "defeated", "squashed", "lent to another", "under the picture", "somebody to rescue"],
    )
    def test_what_neither_hurts_nor_carries_is_not_told(self, gone):
        assert alone(x=320, y=184, **gone) == {}

    def test_a_shell_still_is(self):
        assert alone(KOOPA, 320, 184, state=4) == {(10, 20): Cell.ENEMY}

    def test_lanes_do_not_mix(self):
        first, second = memory(), memory()
        put_creature(first, 0, GOOMBA, 320, 184)
        put_creature(second, 5, FIREBAR, 324, 116)
        rows = watched(memory(), first, memory(), second)
        lanes, _, _, meaning = Creatures(rows, read_facts(rows)).cells()
        assert set(zip(lanes.tolist(), meaning.tolist(), strict=True)) == {(1, Cell.ENEMY), (3, Cell.HAZARD)}


class Sight:
    """One moment of a flight: where sprites other than Mario's are, and which cells are said to be taken."""

    def __init__(self, console, shift=(0, 0)):
        self.memory = shown = console.ram()
        rows = watched(shown)
        self.creatures = Creatures(rows, read_facts(rows))
        self.left = int(shown[ram.SCREEN_PAGE]) * 256 + int(shown[ram.SCREEN_LOW])
        self.sprites = sprites(shown)
        mario = int(shown[MARIOS_SPRITES]) // 4
        self.sprites[[0, *range(mario, mario + 8)], 0] = 255  # and the one that splits the screen
        self.sprites[self.sprites[:, 1] == BLANK, 0] = 255
        self.drawn = np.zeros((300, 300), np.bool_)
        for line, _, _, column in self.sprites:
            self.drawn[line : line + 8, column : column + 8] |= line < 240
        self.taken = np.zeros((400, 400), np.bool_)  # the picture, with a margin of 64
        self.cells = []
        blocks = shown[ram.BLOCKS : ram.BLOCKS + ram.BLOCK_BYTES].reshape(2, 13, 16)
        _, row, column, meaning = self.creatures.cells()
        for r, c, m in zip(row.tolist(), column.tolist(), meaning.tolist(), strict=True):
            y, x = 32 + 16 * (r + shift[0]), 16 * (c + shift[1]) - self.left
            if -64 <= y < 320 and -64 <= x < 320:
                self.taken[y + 64 : y + 80, x + 64 : x + 80] = True
            behind = 0 <= r < 13 and IS_BLOCK[BLOCK_MEANING[blocks[c // 16 % 2, r, c % 16]]]
            if 32 <= y <= 216 and 8 <= x <= 224 and not behind:
                self.cells.append((y, x, m))

    def wrong(self):
        """Cells on the picture that nothing is drawn in, nor within two pixels of it."""
        return [(y, x, m) for y, x, m in self.cells if not self.drawn[y - 2 : y + 18, x - 2 : x + 18].any()]

    def missed(self):
        """(kind, tile) of sprites, of what hurts or carries, that are not near a cell said to be taken."""
        for slot, kind in enumerate(self.creatures.kind[0].tolist()):
            if not self.creatures.meaning[0, slot] or kind == PLANT:  # a plant's lower part is behind its pipe
                continue
            first = int(self.memory[CREATURES_SPRITES + slot]) // 4
            lowest = 24 if kind == BOWSER else 16
            top = int(self.creatures.y[0, slot]) + 24 - lowest if self.creatures.meaning[0, slot] >= Cell.ENEMY else 0
            for line, tile, _, column in self.sprites[first : first + 6]:
                if max(32, top) <= line < 216 and 8 <= column < 232 and not self._near(line, column, 6):
                    yield kind, tile
        for slot in np.flatnonzero(self.memory[ram.MISC_STATE : ram.MISC_STATE + ram.MISC_SLOTS] & ram.HAMMER):
            first = int(self.memory[HAMMERS_SPRITES + slot]) // 4
            for line, tile, _, column in self.sprites[first : first + 2]:
                if 32 <= line < 216 and 8 <= column < 232 and not self._near(line, column, 4):
                    yield "hammer", tile

    def balls(self):
        """Of each ball of fire on the picture, whether its middle is in a cell that is said to be taken."""
        for line, tile, _, column in self.sprites:
            if tile in BALLS and 32 <= line < 216 and 8 <= column < 232:
                yield self._near(line, column, -2)

    def _near(self, line, column, reach):
        top, left = line + 64 - reach, column + 64 - reach
        return self.taken[top : top + 8 + 2 * reach, left : left + 8 + 2 * reach].any()


def sights(level, frames=1700, **options):
    for number, console in enumerate(fly(the_cartridge(), level, frames, seed=2)):
        if number > 40 and number % 8 == 0 and console.read(ram.TASK) == ram.TASK_CONTROLLED:
            yield Sight(console, **options)


FLIGHTS = {
    "1-1": {GOOMBA},
    "1-2": {GOOMBA, KOOPA, PLANT, 0x26, 0x27},
    "1-3": {GOOMBA, 0x0F, 0x25, 0x28},
    "1-4": {FIREBAR, 0x1B, 0x28, FLAME, BOWSER},
    "2-1": {PLANT, 0x0E, SPRING},
    "2-2": {0x07, 0x0A},
    "2-3": {0x14},
    "2-4": {FIREBAR, PODOBOO, 0x2B, 0x2C},
    "3-1": {KOOPA, HAMMER_BROTHER},
    "3-3": {0x24, 0x28},
    "4-1": {0x11, 0x12},
    "5-1": {0x33},
    "5-3": {0x08, 0x25},
    "5-4": {LONG_FIREBAR},
    "6-4": {FIREBAR, PODOBOO},
    "8-3": {HAMMER_BROTHER, 0x0E},
}
"""Levels, and what is met there."""


class TestSprites:
    @pytest.mark.parametrize("level", FLIGHTS)
    def test_cells_are_taken_where_the_game_draws_something(self, level):
        met, wrong, missed, told, balls = set(), [], Counter(), 0, []
        for sight in sights(level):
            met |= set(sight.creatures.kind[0][sight.creatures.meaning[0] != Cell.EMPTY].tolist())
            told += len(sight.cells)
            wrong += sight.wrong()
            missed.update(sight.missed())
            balls += sight.balls()
        assert met >= FLIGHTS[level]
        # A bullet is in memory a moment before it is drawn, a fish a moment longer.
        assert len(wrong) <= 0.01 * told, Counter(Cell(m).name for _, _, m in wrong)
        assert not missed
        assert all(balls)

    @pytest.mark.parametrize("shift", [(0, 1), (1, 0), (0, -1), (-1, 0)])
    def test_cells_that_were_one_off_would_be_noticed(self, shift):
        wrong, told, balls = 0, 0, []
        for sight in sights("1-4", 600, shift=shift):
            told += len(sight.cells)
            wrong += len(sight.wrong())
            balls += sight.balls()
        assert wrong > 0.2 * told
        assert not all(balls)

    def test_a_lift_is_right_under_who_stands_on_it(self):
        flight = fly(the_cartridge(), "1-3", 1200, seed=2)
        console = next(c for c in flight if lift_slot(c) is not None)
        slot, stood = lift_slot(console), 0
        for frame in range(120):
            if frame == 0:
                place = int(console.read(ram.ENEMY_X_PAGE + slot)) * 256 + console.read(ram.ENEMY_X_LOW + slot) + 16
                console.poke(ram.X_PAGE, place // 256)
                console.poke(ram.X_LOW, place % 256)
                console.poke(ram.Y_LOW, console.read(ram.ENEMY_Y_LOW + slot) - 48)
                for address in (ram.X_SPEED, PASSES_WALLS):
                    console.poke(address, 0)
            console.frame()
            facts = read_facts(watched(console.ram()))
            if frame < 20 or facts.float_state[0] != ram.ON_GROUND:
                continue
            (row,), (column,) = mario_cell(facts)
            assert found(console.ram()).get((row + 1, column)) == Cell.PLATFORM
            stood += 1
        assert stood > 60


def lift_slot(console):
    """Of a lift in the middle of the picture."""
    rows = watched(console.ram())
    seen = Creatures(rows, read_facts(rows))
    column = seen.x[0] - screen_left(rows)[0]
    there = np.isin(seen.kind[0], LARGE_LIFTS) & (seen.meaning[0] == Cell.PLATFORM)
    there &= (column > 40) & (column < 180) & (seen.y[0] > 90) & (seen.y[0] < 180)
    return int(there.argmax()) if there.any() else None
