"""cynes as a witness: it says the same each time, whatever its first step does."""

import numpy as np
import pytest
from ines import cartridge
from oracles import CynesConsole
from programs import PROLOGUE

pytest.importorskip("cynes")

COUNTER = cartridge(f"""{PROLOGUE}
loop:
    inc $10
    bne loop
    inc $11
    jmp loop
""")


def test_the_first_frame_is_always_the_one_after_power_on() -> None:
    counts = set()
    kept = []
    for size in range(60):
        kept.append(np.full(size * 997, 255, np.uint8))  # other consoles and arrays: the flag's memory differs
        console = CynesConsole(COUNTER)
        console.frame()
        ram = console.ram()
        counts.add(int(ram[0x10]) | int(ram[0x11]) << 8)
        if size % 3 == 0:
            kept.append(console)
    # 27,386 cycles to vblank, 11,284 of them to clear RAM, 8 a round
    assert len(counts) == 1
    assert 1_990 <= counts.pop() <= 2_020


def test_buttons_come_in_our_order() -> None:
    console = CynesConsole(
        cartridge(f"""{PROLOGUE}
poll:
    lda #1
    sta $4016
    lda #0
    sta $4016
    ldx #8
bit:
    lda $4016
    lsr
    ror $10
    dex
    bne bit
    lda $10
    sta $11
    jmp poll
""")
    )
    for held in (0x01, 0x80, 0x35):
        console.frame(held)
        console.frame(held)
        assert console.ram()[0x11] == held


def test_there_is_no_picture_before_the_first_frame() -> None:
    with pytest.raises(RuntimeError, match="no frame"):
        CynesConsole(COUNTER).rgb()
