"""Accesses that an instruction makes on its way, and that a port notices."""

from programs import PROLOGUE, Program

_STRAY_TABLE = """
    lda $2002
    lda #$20
    sta $2006
    lda #0
    sta $2006
    ldx #0
fill:
    txa
    sta $2007
    inx
    bne fill
    jmp begin
home:             ; address $2040, buffer filled from $203F
    lda #$20
    sta $2006
    lda #$3F
    sta $2006
    bit $2007
    rts
where:            ; keeps what was read, and which byte comes next
    ldy $10
    sta $300,y
    lda $2007
    sta $310,y
    lda $2007
    sta $320,y
    inc $10
    rts
begin:
"""

STRAY_ACCESSES = Program(
    "stray_accesses",
    "Indexed stores read the address first, INC reads once and writes twice, loads read twice across a page: at $2007.",
    f"""{PROLOGUE}
{_STRAY_TABLE}
    jsr home
    ldx #$FF
    lda $1F08,x   ; $2007: the first try is $1F07
    jsr where
    jsr home
    ldx #$10
    lda $1FF7,x   ; $2007: the first try is $1F07
    jsr where
    jsr home
    ldx #0
    lda $2007,x   ; no crossing: one read
    jsr where
    jsr home
    ldx #0
    sta $2007,x   ; a read, then the write
    jsr where
    jsr home
    inc $2007     ; a read, two writes
    jsr where
    jsr home
    lda #$17
    sta $40
    lda #$21
    sta $41
    ldy #$F0
    sta ($40),y   ; a read of $2107, which is $2007 too, then the write
    jsr where
end:
    jmp end
""",
    3,
    {0x300: b"\x3f\x3f\x3f", 0x310: b"\x40\x40\x40\x40\x40", 0x320: b"\x41\x41\x41\x42"},
)

# On hardware the outcome depends on the alignment of the two chips; that the second read of two in a row does not count
# is one of its outcomes, and the one cynes shows.
DOUBLE_READS = Program(
    "double_reads",
    "Loads that cross from one mirror of $2007 to another read it in two cycles running; they count as one.",
    f"""{PROLOGUE}
{_STRAY_TABLE}
    jsr home
    ldx #$F0
    lda $2117,x   ; first $2107, then $2207
    jsr where
    jsr home
    lda #$17
    sta $40
    lda #$21
    sta $41
    ldy #$F0
    lda ($40),y
    jsr where
end:
    jmp end
""",
    3,
    {0x300: b"\x3f\x3f", 0x310: b"\x40\x40", 0x320: b"\x41\x41"},
)

PROGRAMS = [STRAY_ACCESSES, DOUBLE_READS]
