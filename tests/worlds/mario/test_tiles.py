from collections import defaultdict

import numpy as np
import pytest
from flights import fly, sprites, the_cartridge
from memories import GROUND_ROW, memory, place_mario, put_block, put_creature, watched

from respawn.worlds.mario import ram
from respawn.worlds.mario.cells import Cell
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.ram import read_facts
from respawn.worlds.mario.starts import begin_level
from respawn.worlds.mario.tiles import NUM_PLANES, PLANES, SCALARS, TileReader, mario_cell

WIDE = MarioConfig(rows_above=12, rows_below=12, columns_behind=8, columns_ahead=14)
MOVES = {Cell.ITEM, Cell.PLATFORM, Cell.ENEMY, Cell.HAZARD, Cell.MARIO}
GOOMBA, FIREBAR = 0x06, 0x1D
MARIOS_SPRITES, BLANK = 0x06E4, 0xFC


def cells_of(made, config=WIDE):
    rows = watched(made)
    return TileReader(config).cells(rows, read_facts(rows))[0]


def scalars_of(made):
    rows = watched(made)
    seen = TileReader(MarioConfig()).read(rows, read_facts(rows))[0]
    return dict(zip(SCALARS, seen[-len(SCALARS) :].tolist(), strict=True))


class TestCells:
    @pytest.mark.parametrize(
        ("block", "meaning"),
        [
            (0x00, Cell.EMPTY), (0x10, Cell.SOLID), (0x22, Cell.SOLID), (0x23, Cell.SOLID), (0x25, Cell.GOAL),
            (0x26, Cell.VINE), (0x51, Cell.BREAKABLE), (0x58, Cell.BREAKABLE), (0x54, Cell.SOLID),
            (0x5F, Cell.EMPTY), (0x60, Cell.EMPTY), (0x61, Cell.SOLID), (0x67, Cell.EMPTY), (0x89, Cell.SOLID),
            (0xC0, Cell.QUESTION), (0xC1, Cell.QUESTION), (0xC2, Cell.COIN), (0xC4, Cell.SOLID), (0xC5, Cell.GOAL),
        ],
    )  # fmt: skip
    def test_say_what_a_block_means_to_a_player(self, block, meaning):
        made = memory()
        put_block(made, GROUND_ROW, 5, block)  # two columns ahead of Mario, one row under his feet's
        grid = cells_of(made)
        assert grid[12 + 1, 8 + 2] == meaning
        grid[12 + 1, 8 + 2] = Cell.EMPTY
        assert (grid != Cell.EMPTY).sum() == 1, "only Mario is left"

    def test_wrap_with_memory_and_end_with_the_area(self):
        made = memory()
        put_block(made, GROUND_ROW, 31, 0x54)  # the last column that memory holds: none is left of the area
        assert (cells_of(made) == Cell.SOLID).sum() == 0
        place_mario(made, 34 * 16, 176)
        grid = cells_of(made)
        assert grid[12 + 1, 8 - 3] == Cell.SOLID
        assert (grid == Cell.SOLID).sum() == 1

    @pytest.mark.parametrize("y", [-60, 0, 100, 255, 300])
    def test_show_nothing_above_and_under_the_level(self, y):
        made = memory()
        made[ram.BLOCKS : ram.BLOCKS + ram.BLOCK_BYTES] = 0x54
        place_mario(made, 800, y)
        grid = cells_of(made)
        in_level = [0 <= (y - 16) // 16 + row - 12 < 13 for row in range(25)]
        solid = (grid == Cell.SOLID) | (grid == Cell.MARIO)
        assert solid[in_level].all()
        assert (grid == Cell.SOLID).any(axis=1).tolist() == in_level

    def test_creatures_do_not_hide_the_blocks_that_they_are_in(self):
        made = memory()
        put_creature(made, 0, GOOMBA, 80, 184)
        assert cells_of(made)[12, 8 + 2] == Cell.ENEMY
        put_block(made, GROUND_ROW - 1, 5, 0x10)
        assert cells_of(made)[12, 8 + 2] == Cell.SOLID


class TestRead:
    def test_gives_the_planes_of_the_cells_and_then_the_numbers(self):
        made = memory()
        put_block(made, GROUND_ROW, 5, 0x54)
        put_creature(made, 3, GOOMBA, 100, 184)
        rows = np.concatenate([watched(memory()), watched(made)])
        reader = TileReader(MarioConfig())
        seen = reader.read(rows, read_facts(rows))
        assert seen.shape == (2, reader.size) and seen.dtype == np.float32
        grid = cells_of(made, MarioConfig())
        grid[grid == Cell.MARIO] = Cell.EMPTY
        planes = seen[1, : -len(SCALARS)].reshape(*grid.shape, NUM_PLANES)
        assert np.array_equal(planes, PLANES[grid])

    def test_no_two_meanings_are_told_alike(self):
        told = {tuple(planes) for planes in np.delete(PLANES, Cell.MARIO, axis=0).tolist()}
        assert len(told) == len(Cell) - 1

    def test_the_numbers_say_where_the_nearest_enemies_are(self):
        made = memory()
        put_creature(made, 0, 0x0D, 140, 150)
        put_creature(made, 4, GOOMBA, 72, 184)
        numbers = scalars_of(made)
        first = [numbers[f"enemy_0_{what}"] for what in ("there", "dx", "dy", "hazard")]
        second = [numbers[f"enemy_1_{what}"] for what in ("there", "dx", "dy", "hazard")]
        assert first == [1.0, 0.5, 0.125, 0.0]
        assert second == [1.0, 1.5625, -0.40625, 1.0]
        assert numbers["enemy_2_there"] == 0.0

    def test_only_what_walks_has_a_speed(self):
        for kind, speed in ((GOOMBA, -0.5), (FIREBAR, 0.0)):
            made = memory()
            put_creature(made, 1, kind, 120, 100)
            made[ram.ENEMY_X_SPEED + 1] = 256 - 8
            assert scalars_of(made)["enemy_0_x_speed"] == speed

    @pytest.mark.parametrize(
        ("change", "name", "value"),
        [
            ({"float_state": 1}, "jumping", 1.0),
            ({"float_state": 2}, "falling", 1.0),
            ({"float_state": 1}, "on_ground", 0.0),
            ({"x_speed": 40}, "x_speed", 1.0),
            ({"x_speed": 256 - 20}, "x_speed", -0.5),
            ({"y_speed": 251}, "y_speed", -1.0),
            ({"held_a_b": 0x80}, "a_held", 1.0),
            ({"held_a_b": 0x40}, "b_held", 1.0),
            ({"task": 7}, "obeys", 0.0),
            ({"power": 2}, "power", 1.0),
            ({"star_timer": 9}, "star", 1.0),
            ({"injury_timer": 9}, "blinking", 1.0),
            ({"facing": 2}, "facing", 0.0),
            ({"crouching": 4}, "crouching", 1.0),
            ({"swimming": 1}, "swimming", 1.0),
            ({"area_kind": 0}, "water", 1.0),
            ({"area_kind": 2}, "underground", 1.0),
            ({"area_kind": 3}, "castle", 1.0),
        ],
    )
    def test_each_number_follows_its_byte(self, change, name, value):
        usual, changed = scalars_of(memory()), scalars_of(memory(**change))
        assert changed[name] == pytest.approx(value)
        assert usual[name] != changed[name]


def looks(level, *, shift=(0, 0)):
    """What each picture of a cell, free of sprites, was said to mean on a flight through a level."""
    meanings, before = defaultdict(set), None
    reader = TileReader(WIDE)
    for number, console in enumerate(fly(the_cartridge(), level, 700, seed=2)):
        # A picture shows what the memory held a frame before, and where sprites were up to then.
        shown, before = before, console.ram()
        if number < 40 or number % 9 or shown[ram.TASK] != ram.TASK_CONTROLLED:
            continue
        rows = watched(shown)
        facts = read_facts(rows)
        grid, picture = reader.cells(rows, facts)[0], console.indices()
        hidden = np.zeros((300, 300), np.bool_)
        for line, _, _, column in np.concatenate([sprites(shown), sprites(before)]):
            hidden[line : line + 8, column : column + 8] = True
        left = int(shown[ram.SCREEN_PAGE]) * 256 + int(shown[ram.SCREEN_LOW])
        top = ((int(facts.y[0]) + 16) // 16 - 12) * 16
        edge = ((int(facts.x[0]) + 8) // 16 - 8) * 16 - left
        for (row, column), meaning in np.ndenumerate(grid):
            y, x = top + 16 * (row + shift[0]), edge + 16 * (column + shift[1])
            if not (32 <= y <= 224 and 0 <= x <= 240) or meaning in MOVES or hidden[y : y + 16, x : x + 16].any():
                continue
            meanings[picture[y : y + 16, x : x + 16].tobytes()].add(Cell(meaning))
    return meanings


class TestPicture:
    @pytest.mark.parametrize(
        "level", ["1-1", "1-2", "1-3", "1-4", "2-1", "2-2", "3-1", "3-3", "4-2", "5-1", "6-3", "7-3", "8-2", "8-4"]
    )
    def test_cells_that_look_the_same_mean_the_same(self, level):
        meanings = looks(level)
        assert all(len(meant) == 1 for meant in meanings.values()), meanings.values()
        meant = set().union(*meanings.values())
        assert {Cell.EMPTY, Cell.SOLID} <= meant
        assert len(meanings) < 50, "cells are cut out of the picture where they are"

    @pytest.mark.parametrize("shift", [(0, 1), (1, 0), (0, -1), (-1, 0)])
    def test_a_grid_that_was_one_off_would_be_noticed(self, shift):
        assert any(len(meant) > 1 for meant in looks("1-1", shift=shift).values())

    def test_marios_cell_is_where_his_sprites_are(self):
        seen = 0
        for number, console in enumerate(fly(the_cartridge(), "1-1", 300, seed=1)):
            shown = console.ram()
            first = int(shown[MARIOS_SPRITES]) // 4
            drawn = [sprite for sprite in sprites(shown)[first : first + 8] if sprite[0] < 240 and sprite[1] != BLANK]
            if number < 40 or not drawn:  # he blinks
                continue
            facts = read_facts(watched(shown))
            (row,), (column,) = mario_cell(facts)
            left = int(shown[ram.SCREEN_PAGE]) * 256 + int(shown[ram.SCREEN_LOW])
            feet = max(line for line, _, _, _ in drawn) + 8
            middle = np.mean([x + 4 for _, _, _, x in drawn]) + left
            assert 32 + 16 * row - 1 <= feet - 16 <= 32 + 16 * row + 17
            assert 16 * column - 2 <= middle <= 16 * column + 18
            seen += 1
        assert seen > 100

    def test_nothing_is_left_of_the_first_column(self):
        console = begin_level(the_cartridge(), find_level("1-2"))
        rows = watched(console.ram())
        facts = read_facts(rows)
        grid = TileReader(WIDE).cells(rows, facts)[0]
        outside = 8 - (int(facts.x[0]) + 8) // 16
        assert (grid[:, :outside] == Cell.EMPTY).all()
        assert (grid[:, outside] == Cell.SOLID).any()
