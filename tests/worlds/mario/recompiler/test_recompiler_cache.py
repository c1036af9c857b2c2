"""Where compiled code is kept, what its place depends on, and when it is trusted."""

import json
import os
import shutil
from pathlib import Path

import pytest

from respawn.worlds.mario.recompiler import cache as cache_module
from respawn.worlds.mario.recompiler.cache import MOST_SLOTS, CacheError, Slot, headers_folder

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


def keep(slot: Slot, library: bytes, facts: dict[str, object] | None = None) -> None:
    with slot.lock():
        workshop = slot.workshop()
        (workshop / "code.so").write_bytes(library)
        slot.keep(workshop, facts or {})


@pytest.fixture
def kept(cache: Path) -> Slot:
    """A slot with something in it."""
    slot = Slot.of(PROGRAM)
    keep(slot, b"a library" * 100, {"compiler": "mine"})
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


def test_a_link_is_not_trusted_and_gives_way(kept: Slot, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    kept.folder.rename(elsewhere)
    kept.folder.symlink_to(elsewhere)
    assert kept.read() is None
    keep(kept, b"newer")
    assert not kept.folder.is_symlink()
    assert kept.read() == kept.library
    assert (elsewhere / "code.so").read_bytes() == b"a library" * 100


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
@pytest.mark.parametrize("which", ["cache", "slot", "library"])
def test_what_others_may_write_is_not_trusted(kept: Slot, which: str, mode: int) -> None:
    {"cache": kept.folder.parent, "slot": kept.folder, "library": kept.library}[which].chmod(mode)
    assert kept.read() is None
    keep(kept, b"newer")
    assert kept.read() == kept.library
    assert kept.library.read_bytes() == b"newer"


def test_a_cache_of_ours_is_closed_to_others(kept: Slot) -> None:
    kept.folder.parent.chmod(0o777)
    kept.lock()
    assert kept.folder.parent.stat().st_mode & 0o777 == 0o700


def test_what_belongs_to_others_is_not_trusted(kept: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: kept.folder.stat().st_uid + 1)
    assert kept.read() is None
    with pytest.raises(CacheError, match=r"belongs to another user, .*; set XDG_CACHE_HOME to a folder of your own$"):
        kept.lock()


def test_a_generous_umask_does_no_harm(cache: Path) -> None:
    before = os.umask(0)
    try:
        slot = Slot.of(PROGRAM)
        keep(slot, b"mine")
    finally:
        os.umask(before)
    assert slot.read() == slot.library


def test_keeping_again_replaces_what_was_there(kept: Slot) -> None:
    keep(kept, b"newer")
    assert kept.read() is not None
    assert kept.library.read_bytes() == b"newer"


def test_nothing_piles_up(kept: Slot) -> None:
    (kept.folder.parent / "making-abandoned").mkdir()
    for number in range(MOST_SLOTS + 3):
        slot = Slot.of(number.to_bytes(2, "little") + PROGRAM[2:])
        keep(slot, b"x")
    names = sorted(path.name for path in kept.folder.parent.iterdir() if len(path.name) != 24)
    assert names == ["making.lock"]
    slots = [path for path in kept.folder.parent.iterdir() if path.is_dir()]
    assert len(slots) == MOST_SLOTS
    assert slot.folder in slots
