import hashlib
from pathlib import Path

import numpy as np
import pytest

from respawn.errors import RomError
from respawn.worlds.mario.fm2 import HARD_RESET, SOFT_RESET, Movie, read_movie
from respawn.worlds.mario.movie import COASTING_FRAMES, play
from respawn.worlds.mario.rom import find_rom

MOVIES = Path(__file__).resolve().parents[4] / "shared" / "movies"


class FakeConsole:
    """Writes down what is done to it; the game is won so many frames after it was last switched on."""

    def __init__(self, won_after: int | None = None, memory: dict[int, int] | None = None):
        self.done: list[object] = []
        self.won_after = won_after
        self.frames = 0
        self.memory = np.zeros(2048, np.uint8)
        for address, value in (memory or {}).items():
            self.memory[address] = value

    def frame(self, buttons=0, buttons2=0):
        self.done.append((buttons, buttons2))
        self.frames += 1
        self.memory[0] = self.frames % 256
        if self.frames == self.won_after:
            self.memory[0x0770] = 2
            self.memory[0x075F] = 7

    def read(self, address):
        return int(self.memory[address])

    def ram(self):
        return self.memory.copy()

    def save(self):
        return self.memory.tobytes()

    def load(self, state):
        self.done.append("power")
        self.memory = np.frombuffer(state, np.uint8).copy()

    def reset(self):
        self.done.append("reset")


def movie_of(*commands: int) -> Movie:
    """A movie whose line i presses button pattern i."""
    return Movie(bytes(range(len(commands))), bytes(len(commands)), bytes(commands))


def test_the_first_two_lines_have_no_frame():
    console = FakeConsole()
    played = play(Movie(b"\1\2\3\4", b"\5\6\7\x08", bytes(4)), console, is_mario=False)
    assert console.done == [(3, 7), (4, 8)] and played.frames == 2
    assert play(movie_of(0), FakeConsole(), is_mario=False).frames == 0


def test_resets_are_pressed_and_cost_two_lines():
    console = FakeConsole()
    played = play(movie_of(0, 0, 0, SOFT_RESET, 0, 0, HARD_RESET, 0, 0), console, is_mario=False)
    assert console.done == [(2, 0), "reset", (5, 0), "power", (8, 0)] and played.frames == 3


def test_a_reset_while_nothing_has_run_changes_nothing():
    console = FakeConsole()
    assert play(movie_of(SOFT_RESET, 0, 0), console, is_mario=False).frames == 1 and console.done == [(2, 0)]
    late = FakeConsole()
    play(movie_of(0, SOFT_RESET, 0, 0), late, is_mario=False)
    assert late.done == [(3, 0)]


def test_power_goes_back_to_the_beginning():
    console = FakeConsole(won_after=1)
    play(movie_of(0, 0, 0, HARD_RESET, 0, 0), console, is_mario=False)
    assert console.read(0x0770) == 0


def test_facts_are_read_after_the_last_line():
    console = FakeConsole(memory={0x075F: 2, 0x075C: 3, 0x075A: 1})
    played = play(movie_of(*[0] * 12), console)
    at_the_end = bytearray(console.memory.tobytes())
    at_the_end[0] = 10
    assert (played.frames, played.world, played.stage, played.lives, played.won) == (10, 3, 4, 2, False)
    assert played.ram_hash == hashlib.sha256(at_the_end).hexdigest() and played.won_at_frame is None
    assert console.frames == 10 + COASTING_FRAMES


def test_no_lives_are_left_when_the_game_is_over():
    assert play(movie_of(0), FakeConsole(memory={0x075A: 0xFF})).lives == 0


@pytest.mark.parametrize(("won_after", "won"), [(1, True), (10, True), (11, True), (610, True), (611, False)])
def test_a_victory_counts_during_the_movie_and_shortly_after(won_after, won):
    played = play(movie_of(*[0] * 12), FakeConsole(won_after=won_after))
    assert played.won is won and played.won_at_frame == (won_after if won else None)
    assert played.world == (8 if won_after <= 10 else 1)


def test_a_castle_of_another_world_is_no_victory():
    assert play(movie_of(*[0] * 12), FakeConsole(memory={0x0770: 2, 0x075F: 3})).won is False


def test_of_another_game_only_the_ram_is_known():
    console = FakeConsole(won_after=1)
    played = play(movie_of(0, 0, 0), console, is_mario=False)
    assert (played.world, played.stage, played.lives, played.won, played.won_at_frame) == (None,) * 5
    assert played.ram_hash == hashlib.sha256(console.memory.tobytes()).hexdigest() and console.frames == 1


def test_whoever_watches_is_told_each_line():
    seen = []
    play(movie_of(0, 0, 0, 0), FakeConsole(), on_frame=seen.append)
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["0y64910m", "1zx369ez", "8yv688zo"])
def test_recorded_runs_play_to_the_end(name):
    """Human runs of the whole game: one wrong cycle anywhere, and Mario dies somewhere."""
    path = MOVIES / f"{name}.fm2"
    if not path.exists():
        pytest.skip("the recorded movies are not here")
    movie = read_movie(path)
    assert len(movie) > 18_000 and any(movie.buttons) and not any(movie.buttons2) and not any(movie.commands)
    try:
        rom = find_rom(expect="ntsc")
    except RomError as error:
        pytest.skip(str(error))
    from respawn.worlds.mario.engine import open_console

    played = play(movie, open_console(rom, interpret=True))
    assert (played.world, played.stage, played.lives, played.won) == (8, 4, 3, True)
    assert played.frames == len(movie) - 2 and played.won_at_frame <= played.frames
