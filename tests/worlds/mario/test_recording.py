import hashlib
from dataclasses import replace

import pytest
import torch

from respawn.errors import MovieError
from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.engine import open_console
from respawn.worlds.mario.fm2 import HARD_RESET, Movie, parse_movie, read_movie, write_movie
from respawn.worlds.mario.movie import play
from respawn.worlds.mario.recording import check_recordable, record
from respawn.worlds.mario.rom import find_rom
from respawn.worlds.mario.world import MarioWorld

HEADER = {"version": "3", "port0": "1", "port1": "0", "port2": "0"}
RIGHT, RIGHT_B, RIGHT_A_B = 1, 3, 4


@pytest.fixture(scope="module")
def rom():
    return find_rom()


@pytest.mark.parametrize("two_pads", [False, True])
def test_what_is_written_is_read_again(tmp_path, two_pads):
    pressed = bytes(range(256))
    header = {**HEADER, "port1": "1" if two_pads else "0"}
    movie = Movie(pressed, pressed[::-1] if two_pads else bytes(256), bytes([HARD_RESET, *bytes(255)]), header)
    path = tmp_path / "new" / "all.fm2"
    write_movie(path, movie, "respawn  made\nthis")
    assert read_movie(path) == movie
    assert "comment respawn made this\n" in path.read_text()
    assert [file.name for file in path.parent.iterdir()] == ["all.fm2"]


def test_buttons_have_the_letters_of_fceux(tmp_path):
    names = ["RIGHT", "LEFT", "DOWN", "UP", "START", "SELECT", "B", "A"]
    movie = Movie(bytes(BUTTONS[name] for name in names), bytes(8), bytes(8), HEADER)
    write_movie(tmp_path / "one.fm2", movie)
    lines = (tmp_path / "one.fm2").read_text().splitlines()[len(HEADER) :]
    assert [line.strip("|0.") for line in lines] == list("RLDUTSBA")


@pytest.mark.parametrize("jitter", [0, 16])
def test_a_movie_leads_where_the_episode_led(tmp_path, rom, jitter):
    """Also from a start that waited, and through a death, after which a life is gone."""
    config = MarioConfig(start_jitter=jitter)
    world = MarioWorld(config, 1)
    world.reset([5])
    waited, held = world.waited_frames(0), []
    assert jitter == 0 or waited > 0
    for _ in range(200):
        result = world.step(torch.tensor([RIGHT]))
        held += world.last_held(0).tolist()
        if result.episodes:
            break
    assert result.episodes[0].end == "death" and held[-1] == BUTTONS["RIGHT"]
    played = record(tmp_path / "death.fm2", rom, waited, held, "respawn a test")
    assert (played.world, played.stage, played.lives) == (1, 1, 2)
    again = play(read_movie(tmp_path / "death.fm2"), open_console(rom))
    assert again == played


def test_what_cannot_be_recorded_is_said_before(tmp_path):
    with pytest.raises(MovieError, match=r"a movie is written as .fm2, and 'a.txt' came"):
        check_recordable(tmp_path / "a.txt", ["1-1"])
    with pytest.raises(MovieError, match=r"Start leads to 1-1 only, but the level is 1-2.*add --level 1-1"):
        check_recordable(tmp_path / "a.fm2", ["1-2"])
    with pytest.raises(MovieError, match="1-1, 1-2"):
        check_recordable(tmp_path / "a.fm2", ["1-1", "1-2"])


def test_a_movie_that_leads_elsewhere_is_not_kept(tmp_path, rom, monkeypatch):
    from respawn.worlds.mario import recording

    astray = replace(parse_played(rom), ram_hash=hashlib.sha256(b"elsewhere").hexdigest())
    monkeypatch.setattr(recording, "play", lambda movie, console: astray)
    with pytest.raises(MovieError, match="does not lead where the episode led"):
        record(tmp_path / "no.fm2", rom, 0, [0] * 4, "respawn a test")
    assert list(tmp_path.iterdir()) == []


def parse_played(rom):
    movie = parse_movie(b"version 3\nport0 1\n" + b"|0|........|||\n" * 5, "five")
    return play(movie, open_console(rom))
