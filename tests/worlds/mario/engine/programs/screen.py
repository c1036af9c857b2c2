"""Text shared by programs that draw: filling nametables, palette and OAM, and waiting for vblank."""

from programs import PROLOGUE

# Rendering is off and stays off. Uses A, X, Y and $F0-$F3.
_ROUTINES = """
wait_vblank:
    bit $2002
wait_more:
    bit $2002
    bpl wait_more
    rts
set_palette:
    lda #$3F
    sta $2006
    ldx #0
    stx $2006
palette_more:
    lda palette,x
    sta $2007
    inx
    cpx #32
    bne palette_more
    rts
hide_sprites:
    ldx #0
    stx $2003
    lda #$FF
hide_more:
    sta $2004
    inx
    bne hide_more
    rts
palette:
    .byte $0F, $01, $11, $21, $0F, $06, $16, $26, $0F, $09, $19, $29, $0F, $03, $13, $23
    .byte $0F, $12, $22, $32, $0F, $17, $27, $37, $0F, $1A, $2A, $3A, $0F, $14, $24, $30
"""


def fill_tables(tile: str = "") -> str:
    """Both nametables: one tile everywhere, or (default) numbers and attributes that differ from place to place."""
    what = f"lda #{tile}" if tile else "tya\n    eor $F2\n    clc\n    adc $F2"
    attributes = "lda #0" if tile else "tya\n    asl\n    adc $F2\n    eor #$1B"
    return f"""
    lda $2002
    lda #$20
    jsr fill_table
    lda #$24
    jsr fill_table
    lda #$28
    jsr fill_table
    lda #$2C
    jsr fill_table
    jmp filled
fill_table:
    sta $F2
    sta $2006
    lda #0
    sta $2006
    ldx #3
    ldy #0
fill_more:
    {what}
    sta $2007
    iny
    bne fill_more
    inc $F2
    dex
    bne fill_more
fill_last:
    {what}
    sta $2007
    iny
    cpy #$C0
    bne fill_last
fill_attributes:
    {attributes}
    sta $2007
    iny
    bne fill_attributes
    rts
filled:
"""


def drawing(body: str, tile: str = "", extra: str = "") -> str:
    """A program whose `body` begins just after a vblank began, with everything filled, sprites hidden, drawing off."""
    return f"""{PROLOGUE}
{fill_tables(tile)}
    jsr set_palette
    jsr hide_sprites
    lda #0
    sta $2006
    sta $2006
    sta $2005
    sta $2005
    jsr wait_vblank
{body}
{_ROUTINES}
{extra}
"""
