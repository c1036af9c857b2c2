"""The PPU's data ports, used while it draws."""

from programs import Program
from programs.screen import drawing


def _while_drawing(name: str, says: str, access: str, frames: int = 40, before: str = "") -> Program:
    """One access each frame, 29,781 + 40 cycles apart, so that it wanders over lines and dots while drawing."""
    body = f"""{before}
    lda #$1E
    sta $2001
    jmp loop
    .page
loop:
    .mark
    .delay 5000
{access}
    ldx $10
    sta $300,x
    inc $10
    .rest {29781 + 40 - 3}
    jmp loop
"""
    return Program(name, says, drawing(body), frames, drawn_from=5)


READ_WHILE_DRAWING = _while_drawing(
    "data_read_while_drawing",
    "Reading $2007 while drawing moves the address in x and y at once, and the picture from there on.",
    "    lda $2007\n    lda $2007",
)

WRITE_WHILE_DRAWING = _while_drawing(
    "data_write_while_drawing",
    "Writing $2007 while drawing moves the address too.",
    "    lda #0\n    sta $2007",
)

OAM_READ_WHILE_DRAWING = _while_drawing(
    "oam_read_while_drawing",
    "Reading $2004 at many dots while drawing.",
    "    lda $2004",
    70,
    before="""
    ldx #0
    stx $2003
ramp:
    txa
    and #$7F
    sta $2004
    inx
    bne ramp""",
)

PROGRAMS = [READ_WHILE_DRAWING, WRITE_WHILE_DRAWING, OAM_READ_WHILE_DRAWING]
