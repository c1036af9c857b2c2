import json

import pytest

from respawn.worlds.mario import rom as roms

KEYS = {
    *("wanted", "wanted_sha256", "found", "origin", "region", "verified", "composed", "bytes", "sha256", "sha1"),
    *("program_crc32", "tiles_crc32", "looked", "note", "problem"),
}


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A user who has no ROM anywhere: no variable, no config, no cache, no package."""
    monkeypatch.delenv("RESPAWN_ROM", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(roms, "_packaged_rom", lambda region: None)
    return tmp_path


@pytest.fixture
def other_game(tmp_path):
    file = tmp_path / "other.nes"
    file.write_bytes(b"NES\x1a\x01\x01" + bytes(10) + bytes(16384) + b"\xff" * 8192)
    return file


def test_the_right_one_is_verified(respawn, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RESPAWN_ROM", raising=False)
    first = respawn("doctor", "rom", "--json")
    found = json.loads(first.out)
    assert first.exit_code == 0 and set(found) == KEYS
    assert found["verified"] and found["region"] == "ntsc" and found["problem"] is found["note"] is None
    assert found["sha256"] == found["wanted_sha256"] == roms.FILE_SHA256["ntsc"]
    assert (found["program_crc32"], found["tiles_crc32"]) == ("5CF548D3", "867B51AD")
    assert "rectangle" in found["composed"] and found["looked"]["cache"].endswith("is not there yet")
    again = json.loads(respawn("doctor", "rom", "--json").out)  # now it comes from the cache
    assert again["origin"] == again["looked"]["cache"] != found["origin"] and again["composed"] == found["composed"]


def test_pal_is_told_to_keep_ntsc_time(respawn):
    answer = respawn("doctor", "rom", "--region", "pal")
    assert answer.exit_code == 0 and "keeps NTSC's time" in " ".join(answer.out.split())
    assert "it is the right one" in answer.out


def test_no_rom_says_where_it_looked_and_what_to_do(respawn, nowhere):
    answer = respawn("doctor", "rom")
    assert answer.exit_code == 2 and "pip install --no-deps gym-super-mario-bros==7.4.0" in answer.sentence
    assert "RESPAWN_ROM  not set" in answer.out
    as_json = respawn("doctor", "rom", "--json")
    found = json.loads(as_json.out)
    assert as_json.exit_code == 2 and as_json.err == "" and found["problem"] == answer.sentence
    assert not found["found"] and not found["verified"]


def test_a_file_that_cannot_be_read_is_an_exit_code_of_two(respawn, tmp_path):
    (tmp_path / "text.nes").write_text("no game")
    answer = respawn("doctor", "rom", "--rom", str(tmp_path / "text.nes"))
    assert answer.exit_code == 2 and "does not begin as an iNES file does" in answer.sentence


def test_another_game_is_an_exit_code_of_one(respawn, other_game):
    answer = respawn("doctor", "rom", "--rom", str(other_game))
    assert answer.exit_code == 1 and answer.err == ""
    assert "problem: this is neither known program of Super Mario Bros." in " ".join(answer.out.split())
    found = json.loads(respawn("doctor", "rom", "--rom", str(other_game), "--json").out)
    assert found["found"] and not found["verified"] and found["region"] is found["composed"] is None
    assert found["tiles_crc32"] == "B4293435"  # of 8,192 bytes FF


def test_the_other_region_is_an_exit_code_of_one(respawn, tmp_path):
    file = tmp_path / "mine.nes"
    file.write_bytes(roms.find_rom().data)
    answer = respawn("doctor", "rom", "--rom", str(file), "--region", "pal", "--json")
    problem = json.loads(answer.out)["problem"]
    assert answer.exit_code == 1 and problem.startswith("this is the NTSC program and PAL is wanted")


def test_a_mistyped_part_is_named(respawn):
    answer = respawn("doctor", "rome")
    assert answer.exit_code == 2 and answer.sentence.endswith("did you mean rom?")
