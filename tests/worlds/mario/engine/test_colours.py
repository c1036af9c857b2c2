"""Colours: the sixty-four of cynes, greyscale, and the bands that emphasis makes."""

from types import ModuleType

import numpy as np
import pytest
from ines import cartridge
from lockstep import cynes_palette
from numpy.typing import NDArray
from oracles import CynesConsole
from programs.screen import drawing


def still(mask: int) -> bytes:
    """A picture of many tiles that does not move."""
    return cartridge(drawing(f"    lda #{mask}\n    sta $2001\nend:\n    jmp end\n"))


def picture(engine: ModuleType, mask: int) -> NDArray[np.uint8]:
    console = engine.Console(engine.Cartridge(still(mask)))
    for _ in range(6):
        console.frame(draw=True)
    indices: NDArray[np.uint8] = console.indices()
    return indices


@pytest.mark.parametrize("emphasis", range(0, 0x100, 0x20))
def test_a_picture_in_rgb_is_the_one_cynes_shows(engine: ModuleType, emphasis: int) -> None:
    pytest.importorskip("cynes")
    image = still(0x0E | emphasis)
    ours, cynes = engine.Console(engine.Cartridge(image)), CynesConsole(image)
    for _ in range(6):
        ours.frame(draw=True)
        cynes.frame()
    assert len(np.unique(ours.indices())) > 8
    np.testing.assert_array_equal(ours.rgb(), cynes.rgb())
    if not emphasis:
        np.testing.assert_array_equal(cynes_palette()[ours.indices()], ours.rgb())


def test_greyscale_keeps_only_the_brightness(engine: ModuleType) -> None:
    # cynes shows black instead and is no witness here.
    colour, grey = picture(engine, 0x0E), picture(engine, 0x0F)
    assert (colour != grey).any()
    np.testing.assert_array_equal(grey, colour & 0x30)


def test_greyscale_acts_on_the_backdrop_too(engine: ModuleType) -> None:
    assert not (picture(engine, 0x01) & 0x0F).any()


@pytest.mark.parametrize("bits", [0x20, 0x40, 0x80, 0xE0])
def test_emphasis_leaves_the_indices_alone(engine: ModuleType, bits: int) -> None:
    np.testing.assert_array_equal(picture(engine, 0x0E | bits), picture(engine, 0x0E))
