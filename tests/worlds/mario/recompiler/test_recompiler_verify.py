"""Code that differs from the interpreter is found out."""

from pathlib import Path

import pytest

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.cache import headers_folder
from respawn.worlds.mario.recompiler.compiler import find_compiler
from respawn.worlds.mario.recompiler.generate import START_BUTTON, generate, probing_buttons
from respawn.worlds.mario.recompiler.verify import UntrustedCodeError, verify


def test_right_code_is_found_equal(little_game: bytes, little_library: Path) -> None:
    assert verify(little_game, little_library, frames=100, seeds=(1, 2, 3)) == 300


def test_wrong_code_is_found_out(little_game: bytes, tmp_path: Path) -> None:
    right = generate(_engine.Cartridge(little_game))
    wrong = right.replace("op::adc(r, c.ram[0x0010]);", "op::adc(r, c.ram[0x0010] + (c.ram[0x0012] == 200));")
    assert wrong != right
    source, library = tmp_path / "code.cpp", tmp_path / "code.so"
    source.write_text(wrong)
    find_compiler().compile(source, library, headers_folder())
    with pytest.raises(UntrustedCodeError, match=r"in frame \d+ of seed 1: .*ram"):
        verify(little_game, library)


def test_probing_buttons_are_the_same_each_time_and_press_start() -> None:
    buttons = probing_buttons(900, seed=3)
    assert buttons == probing_buttons(900, seed=3)
    assert buttons != probing_buttons(900, seed=4)
    assert len(buttons) == 900
    assert START_BUTTON in buttons[:20]
