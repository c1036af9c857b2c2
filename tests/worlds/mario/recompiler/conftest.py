"""A little game, its code, and a compiler that hands that code out; the assembler lies with the engine's tests."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from copying_compiler import Copier

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

LITTLE_GAME = """
reset:
    ldx #$FF
    txs
    lda #$80
    sta $2000
loop:
    inc $10
    lda $11
    clc
    adc $10
    sta $11
    jmp loop
nmi:
    inc $12
    rti
"""


@pytest.fixture(scope="session")
def little_game() -> bytes:
    """An iNES file."""
    from ines import cartridge

    return cartridge(LITTLE_GAME)


@pytest.fixture(scope="session")
def little_library(little_game: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its program, really compiled."""
    from both_ways import compiled

    return compiled(little_game, tmp_path_factory.mktemp("little"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the folder for code in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    return tmp_path / "cache" / "respawn" / "code"


@pytest.fixture
def copier(tmp_path: Path, little_library: Path, monkeypatch: pytest.MonkeyPatch) -> "Copier":
    """The compiler that `ensure_code` finds."""
    from copying_compiler import write_compiler

    written = write_compiler(tmp_path, little_library)
    monkeypatch.setenv("CXX", str(written.path))
    return written
