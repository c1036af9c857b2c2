import json
import sys

import pytest

from respawn.worlds.mario import self_check
from respawn.worlds.mario.engine import Console

KEYS = {
    *("engine", "module", "module_compiler", "simd_path", "simd_paths", "recompiled", "interpreted_because", "code"),
    *("code_made", "cache", "cache_bytes", "rom", "rom_sha256", "rom_title", "checks", "frames_checked", "problems"),
}


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A game that does nothing, no compiler to recompile it, and a cache of its own."""
    prg = bytes([0x4C, 0x00, 0x80]).ljust(0x7FFA, b"\xea") + bytes([0x00, 0x80] * 3)
    (tmp_path / "still.nes").write_bytes(b"NES\x1a\x02\x01" + bytes(10) + prg + bytes(8192))
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return ["doctor", "engine", "--rom", str(tmp_path / "still.nes"), "--seconds", "0.05"]


def test_json_tells_how_the_game_runs_and_what_was_checked(respawn, words, tmp_path):
    answer = respawn(*words, "--json")
    found = json.loads(answer.out)
    assert answer.exit_code == 0 and set(found) == KEYS and found["problems"] == []
    assert found["simd_path"] in found["simd_paths"] and found["rom_title"] == "other"
    assert found["recompiled"] is False and "no-such-compiler" in found["interpreted_because"]
    assert found["cache"] == str(tmp_path / "cache" / "respawn" / "code") and found["cache_bytes"] == 0
    assert found["frames_checked"] == sum(check["frames"] for check in found["checks"]) > 0


def test_a_console_that_differs_makes_the_exit_code_one(respawn, words, monkeypatch):
    class Forgetful:
        def __init__(self, cartridge):
            self.real = Console(cartridge)

        def __getattr__(self, name):
            return getattr(self.real, name)

        def load(self, state):
            self.real.load(state)
            self.real.poke(0x0300, self.real.read(0x0300) ^ 1)

    monkeypatch.setattr(self_check, "Console", Forgetful)
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*words)
    assert answer.exit_code == 1 and "nothing differs" not in answer.out
    assert "problem: save, run, load, run: 30 frames from frame 0 of seed 0 are not" in answer.out
    assert max(len(line.rstrip()) for line in answer.out.splitlines()) <= 80


def test_the_table_says_that_nothing_differs(respawn, words):
    answer = respawn(*words)
    assert answer.exit_code == 0 and "nothing differs in" in answer.out
    assert "warning: the game's program is interpreted" in answer.out


def test_a_recompiled_game_is_checked_against_the_interpreter(respawn, words, monkeypatch):
    monkeypatch.delenv("CXX")
    found = json.loads(respawn(*words, "--json").out)
    if not found["recompiled"]:
        pytest.skip(found["interpreted_because"])
    first = found["checks"][0]
    assert first["name"] == "recompiled and interpreted" and first["frames"] > 0 and first["difference"] is None
    assert found["cache_bytes"] > 0 and found["code_made"]["verified_frames"] > 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (["--rom", "no.nes"], "the ROM no.nes is not there"),
        (["--seconds", "0"], "--seconds must be above 0, not 0.0"),
        (["--second", "1"], "there is no option --second for 'respawn doctor engine'; did you mean --seconds?"),
        (["more"], "'respawn doctor engine' has no use for the word 'more'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, changed, sentence):
    answer = respawn("doctor", "engine", *changed)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_a_game_that_cannot_be_played_is_the_user_s_to_mend(respawn, tmp_path):
    path = tmp_path / "mapper.nes"
    path.write_bytes(b"NES\x1a\x02\x01\xf0\xf0" + bytes(8 + 40_960))
    answer = respawn("doctor", "engine", "--rom", str(path))
    assert answer.exit_code == 2 and "cannot be played" in answer.sentence


def test_without_an_engine_it_is_said_what_to_do(respawn, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "respawn.worlds.mario.self_check", None)
    monkeypatch.delattr("respawn.worlds.mario.self_check", raising=False)
    answer = respawn(*words)
    assert answer.exit_code == 1 and "the NES engine is not built here" in answer.sentence
