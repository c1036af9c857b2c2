import json
import subprocess
import sys
import types

import numpy as np
import pytest

HEADER = "version 3\nport0 1\nport1 0\nport2 0\n"
KEYS = ["frames", "world", "stage", "lives", "won", "won_at_frame", "ram_hash", "rom_sha256"]


class FakeConsole:
    """Always stands in front of the axe of 8-4."""

    def frame(self, buttons=0, buttons2=0):
        pass

    def read(self, address):
        return {0x0770: 2, 0x075F: 7, 0x075C: 3, 0x075A: 2}[address]

    def ram(self):
        return np.zeros(2048, np.uint8)


@pytest.fixture
def opened(monkeypatch):
    """An engine that opens fakes; what it was asked for."""
    asked = []

    def open_console(rom, *, interpret=False):
        asked.append((rom, interpret))
        return FakeConsole()

    engine = types.ModuleType("respawn.worlds.mario.engine")
    engine.open_console = open_console
    monkeypatch.setitem(sys.modules, "respawn.worlds.mario.engine", engine)
    return asked


@pytest.fixture
def movie(tmp_path):
    path = tmp_path / "run.fm2"
    path.write_text(HEADER + "|0|R......A|||\n" * 1_000)
    return str(path)


@pytest.fixture
def other_game(tmp_path):
    path = tmp_path / "other.nes"
    path.write_bytes(b"NES\x1a\x02\x01" + bytes(10 + 40_960))
    return str(path)


@pytest.fixture
def mario(other_game, monkeypatch):
    """A file that is taken for Super Mario Bros."""
    from respawn.worlds.mario.rom import Rom

    monkeypatch.setattr(Rom, "is_mario", True)
    return other_game


def test_json_has_the_facts(respawn, opened, movie, mario):
    answer = respawn("movie", movie, "--rom", mario, "--json")
    played = json.loads(answer.out)
    assert answer.exit_code == 0 and answer.err == "" and list(played) == KEYS
    assert [played[key] for key in KEYS[:6]] == [998, 8, 4, 3, True, 1]
    assert played["ram_hash"] == "e5a00aa9991ac8a5ee3109844d84a55583bd20572ad3ffcd42792f3c36b183ad"
    assert opened[0][0].sha256 == played["rom_sha256"] and opened[0][1] is False


def test_the_table_says_the_same(respawn, opened, movie, mario):
    answer = respawn("movie", movie, "--rom", mario, "--interpret")
    assert answer.exit_code == 0 and answer.out.startswith("run.fm2\n") and answer.err == ""
    for line in ("frames  998", "level   8-4", "lives   3", "won     yes, at frame 1"):
        assert line in answer.out
    assert opened[0][1] is True


def test_of_another_game_less_is_known(respawn, opened, movie, other_game):
    played = json.loads(respawn("movie", movie, "--rom", other_game, "--json").out)
    assert [played[key] for key in KEYS[1:6]] == [None] * 5 and played["frames"] == 998
    assert "level" not in respawn("movie", movie, "--rom", other_game).out


def test_progress_is_for_terminals(respawn, opened, movie, mario, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    answer = respawn("movie", movie, "--rom", mario, "--json")
    assert "run.fm2" in answer.err and json.loads(answer.out)["frames"] == 998


def test_mistakes_come_back_as_one_sentence(respawn, opened, movie, other_game, tmp_path):
    bad = tmp_path / "bad.fm2"
    bad.write_text(HEADER + "|0|R......A|||\n|0|oops|||\n")
    for words, said in (
        ([], "'respawn movie' wants FILE, and nothing came"),
        ([str(tmp_path / "no.fm2")], "no.fm2 is not there"),
        ([str(bad)], f"{bad} line 6: expected the 8 buttons RLDUTSBA for port0, and 'oops' came"),
        ([movie, "--rom", str(tmp_path / "no.nes")], "no.nes is not there"),
        ([movie, "--rom", movie], "does not begin as an iNES file does"),
        ([movie, "--rom"], "--rom wants a path"),
        ([""], "FILE wants a path, and an empty name came"),
        ([movie, "--rom", ""], "--rom wants a path, and an empty name came"),
        ([movie, "--rom="], "--rom wants a path, and an empty name came"),
        ([movie, "more"], "has no use for the word 'more'"),
    ):
        answer = respawn("movie", *words)
        assert answer.exit_code == 2 and said in answer.sentence and answer.out == ""
    assert opened == []


def test_json_comes_even_if_stderr_is_closed(movie, tmp_path):
    still = tmp_path / "still.nes"
    program = bytes([0x4C, 0x00, 0x80]).ljust(0x7FFA, b"\xea") + bytes([0x00, 0x80] * 3)
    still.write_bytes(b"NES\x1a\x02\x01" + bytes(10) + program + bytes(8192))
    words = [sys.executable, "-m", "respawn", "movie", movie, "--rom", str(still), "--interpret", "--json"]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["frames"] == 998


def test_without_an_engine_it_is_said_what_to_do(respawn, movie, other_game, monkeypatch):
    monkeypatch.setitem(sys.modules, "respawn.worlds.mario.engine", None)
    answer = respawn("movie", movie, "--rom", other_game)
    assert answer.exit_code == 1 and "the NES engine is not built here" in answer.sentence
    assert "run 'make setup'" in answer.sentence
