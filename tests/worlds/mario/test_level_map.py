import numpy as np
import pytest
from PIL import Image

from respawn.worlds.mario import level_map as level_map_module
from respawn.worlds.mario.engine import open_cartridge
from respawn.worlds.mario.level_map import draw_level, level_map
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.rom import find_rom
from respawn.worlds.mario.starts import begin_level

PITS_OF_1_1 = {*range(69, 71), *range(86, 89), *range(153, 155)}  # columns of 16 pixels


@pytest.fixture
def rom():
    return find_rom()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(level_map_module, "user_cache_folder", lambda: tmp_path)
    return tmp_path / "maps"


def test_the_map_of_1_1_has_its_pits_where_the_game_has_them(cache, rom):
    picture = level_map(find_level("1-1"), rom)
    assert picture.shape == (208, 211 * 16, 3)
    sky = picture[0, 0]
    ground = picture[-8].reshape(211, 16, 3)
    holes = {column for column in range(211) if (ground[column] == sky).all()}
    assert holes == PITS_OF_1_1


def test_nobody_is_on_the_map(cache, rom):
    picture = level_map(find_level("1-1"), rom)
    standing_mario = picture[176 - 32 : 208 - 32, 32:64].reshape(-1, 3)
    trousers = {(180, 48, 32), (228, 92, 16)} & {tuple(colour) for colour in standing_mario.tolist()}
    assert not trousers


@pytest.mark.parametrize(
    ("name", "width"),
    [("1-2", 3072), ("4-2", 3585), ("2-2", 3086), ("4-4", 2791), ("8-1", 6224), ("8-4", 4838), ("7-1", 3072)],
)
def test_caves_seas_mazes_and_long_levels_have_an_end(rom, name, width):
    level = find_level(name)
    cartridge = open_cartridge(rom)
    picture = draw_level(begin_level(cartridge, level), level)
    assert picture.shape == (208, width, 3)
    # Wherever the screen is on its way, the map shows there what the screen shows, but for coins that do not shine.
    console = begin_level(cartridge, level)
    level_map_module._take_off(console)
    for frame, screen_x in enumerate(level_map_module._flight(console)):
        if screen_x + 256 > width:
            break
        if frame % 29 == 0:
            same = (picture[:, screen_x : screen_x + 256] == console.rgb()[32:]).all(-1)
            assert same.mean() > 0.97, screen_x


def test_the_second_time_it_comes_from_the_cache(cache, rom, monkeypatch):
    first = level_map(find_level("1-1"), rom)
    (file,) = cache.iterdir()
    assert file.name.endswith("-1-1.png") and file.name.startswith(rom.sha256[:16])

    def must_not_fly(console, level):
        raise AssertionError("it was drawn again")

    monkeypatch.setattr(level_map_module, "draw_level", must_not_fly)
    assert (level_map(find_level("1-1"), rom) == first).all()


def test_a_damaged_cache_is_mended_and_a_missing_one_is_no_mishap(cache, rom, monkeypatch):
    first = level_map(find_level("1-1"), rom)
    (file,) = cache.iterdir()
    file.write_bytes(b"no picture")
    assert (level_map(find_level("1-1"), rom) == first).all()
    assert (np.asarray(Image.open(file)) == first).all()
    file.write_bytes(file.read_bytes()[:2000])
    assert (level_map(find_level("1-1"), rom) == first).all()
    file.unlink()
    file.mkdir()
    assert (level_map(find_level("1-1"), rom) == first).all()
