"""Games for the tests of consoles and pools: a little one of our own, and the real one where there is one."""

import sys
from pathlib import Path

import pytest

from respawn.errors import RomError
from respawn.worlds.mario.rom import Rom, find_rom

sys.path.insert(0, str(Path(__file__).parent / "engine"))

from ines import cartridge

PLAYS = """
; Counts as fast as it can, so that every frame ends elsewhere; what both pads hold moves sprites and scroll.
COUNT = $10
HELD = $12
PLACE = $13
HELD2 = $14
VBLANKS = $15
IRQS = $16
reset:
    sei
    cld
    ldx #$FF
    txs
first: bit $2002
    bpl first
second: bit $2002
    bpl second
    lda #$00        ; patterns, if they are RAM
    sta $2006
    sta $2006
    ldy #8
patterns: txa
    eor COUNT
    sta $2007
    inc COUNT
    inx
    bne patterns
    dey
    bne patterns
    lda #$3F
    sta $2006
    lda #$00
    sta $2006
    ldx #32
colours: txa
    sta $2007
    dex
    bne colours
    lda #$20
    sta $2006
    lda #$00
    sta $2006
    ldy #8
tiles: txa
    sta $2007
    inx
    bne tiles
    dey
    bne tiles
    lda #$8F        ; samples, with an interrupt behind each
    sta $4010
    lda #2
    sta $4013
    lda #0
    sta $4017
    lda #$90
    sta $2000
    lda #$1E
    sta $2001
    cli
count: inc COUNT
    lda COUNT
    adc $11
    sta $11
    tax
    sta $0300,x
    bit $2002
    bvc count
    stx $2005
    sta $2005
    jmp count
nmi:
    pha
    txa
    pha
    inc VBLANKS
    lda #1
    sta $4016
    lda #0
    sta $4016
    ldx #8
pads: lda $4016
    lsr
    rol HELD
    lda $4017
    lsr
    rol HELD2
    dex
    bne pads
    lda HELD
    clc
    adc PLACE
    adc HELD2
    sta PLACE
    tax
    sta $0203
    sta $0200,x
    lda #2
    sta $4014
    lda #$20
    sta $2006
    stx $2006
    stx $2007
    stx $2005
    stx $2005
    lda #$90
    sta $2000
    lda #$1F
    sta $4015
    pla
    tax
    pla
    rti
irq:
    pha
    lda $4015
    inc IRQS
    pla
    rti
"""

LITTLE = cartridge(PLAYS, vertical=True)
WITH_TILE_RAM = cartridge(PLAYS, chr_rom=b"")
HELD, PLACE, HELD2, VBLANKS, IRQS = 0x12, 0x13, 0x14, 0x15, 0x16


def little_rom() -> Rom:
    """The little game as if it had been found."""
    return Rom(LITTLE, "0" * 64, "the little game", "other")


def real_game() -> bytes:
    """Super Mario Bros., or a reason to skip."""
    try:
        return find_rom(expect="ntsc").data
    except RomError as error:
        pytest.skip(f"no ROM here: {error}")
