"""Where compiled code is kept, what its place depends on, and when it is trusted."""

import json
import shutil
from pathlib import Path

import pytest

from respawn.worlds.mario.recompiler import cache as cache_module
from respawn.worlds.mario.recompiler.cache import MOST_SLOTS, Slot, headers_folder

PROGRAM = bytes(0x8000)


def test_a_slot_is_the_same_each_time_and_lies_in_the_cache(cache: Path) -> None:
    assert Slot.of(PROGRAM) == Slot.of(PROGRAM)
    assert Slot.of(PROGRAM).folder.parent == cache


def test_another_program_has_another_slot(cache: Path) -> None:
    assert Slot.of(PROGRAM) != Slot.of(b"\1" + PROGRAM[1:])


def test_another_processor_has_another_slot(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Slot.of(PROGRAM)
    monkeypatch.setattr(cache_module, "cpu_name", lambda: "another one")
    assert Slot.of(PROGRAM) != before


def test_another_engine_has_another_slot(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Slot.of(PROGRAM)
    monkeypatch.setattr("respawn.worlds.mario._engine.engine_version", lambda: "another one")
    assert Slot.of(PROGRAM) != before


def test_any_change_of_a_header_makes_another_slot(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "native"
    shutil.copytree(headers_folder(), copy)
    monkeypatch.setattr(cache_module, "headers_folder", lambda: copy)
    before = Slot.of(PROGRAM)
    header = copy / "nes" / "instructions.h"
    header.write_text(header.read_text() + "\n")
    assert Slot.of(PROGRAM) != before


def test_another_compiler_has_the_same_slot(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Slot.of(PROGRAM)
    monkeypatch.setenv("CXX", "another-compiler")
    assert Slot.of(PROGRAM) == before


@pytest.fixture
def kept(cache: Path) -> Slot:
    """A slot with something in it."""
    slot = Slot.of(PROGRAM)
    with slot.lock():
        workshop = slot.workshop()
        (workshop / "code.so").write_bytes(b"a library" * 100)
        slot.keep(workshop, {"compiler": "mine"})
    return slot


def test_what_was_kept_is_found(kept: Slot) -> None:
    assert kept.read() == kept.library
    assert kept.library.read_bytes() == b"a library" * 100
    assert json.loads((kept.folder / "code.json").read_text())["compiler"] == "mine"


def test_an_empty_slot_has_nothing(cache: Path) -> None:
    assert Slot.of(PROGRAM).read() is None


@pytest.mark.parametrize("damage", [b"", b"a library" * 99, b"a librarY" * 100])
def test_a_damaged_library_is_not_trusted(kept: Slot, damage: bytes) -> None:
    kept.library.write_bytes(damage)
    assert kept.read() is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b'{"sha256": 5}', b"\xff\xfe\x00"])
def test_a_damaged_record_is_not_trusted(kept: Slot, damage: bytes) -> None:
    (kept.folder / "code.json").write_bytes(damage)
    assert kept.read() is None


def test_keeping_again_replaces_what_was_there(kept: Slot) -> None:
    with kept.lock():
        workshop = kept.workshop()
        (workshop / "code.so").write_bytes(b"newer")
        kept.keep(workshop, {})
    assert kept.read() is not None
    assert kept.library.read_bytes() == b"newer"


def test_nothing_piles_up(kept: Slot) -> None:
    (kept.folder.parent / "making-abandoned").mkdir()
    for number in range(MOST_SLOTS + 3):
        slot = Slot.of(number.to_bytes(2, "little") + PROGRAM[2:])
        with slot.lock():
            workshop = slot.workshop()
            (workshop / "code.so").write_bytes(b"x")
            slot.keep(workshop, {})
    names = sorted(path.name for path in kept.folder.parent.iterdir() if len(path.name) != 24)
    assert names == ["making.lock"]
    slots = [path for path in kept.folder.parent.iterdir() if path.is_dir()]
    assert len(slots) == MOST_SLOTS
    assert slot.folder in slots
