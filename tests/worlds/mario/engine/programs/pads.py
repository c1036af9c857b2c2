"""The controller ports, and addresses where nothing answers."""

from programs import PROLOGUE, Program

# NMI once a frame, from frame 2 on: call n sees the buttons of frame n + 2.
_FRAME = """
    bit $2002
    lda #$80
    sta $2000
idle:
    jmp idle
nmi:
"""

_HELD = (
    *(((1 << bit), 0x80 >> bit) for bit in range(8)),
    (0xFF, 0x01),
    (0x5A, 0xA5),
    (0x00, 0xFF),
    (0x0F, 0xF0),
)


def _reads(count: int) -> str:
    return f"""{PROLOGUE}
{_FRAME}
    lda #1
    sta $4016
    lda #0
    sta $4016
    ldx $10
    ldy #{count}
more:
    lda $4016
    and #1
    sta $300,x
    lda $4017
    and #1
    sta $400,x
    inx
    dey
    bne more
    txa
    clc
    adc #{16 - count}
    sta $10
    rti
"""


def _bits(pad: int, count: int) -> bytes:
    """Eight buttons from A to Right, then ones; a row of sixteen for each frame."""
    rows = [[*(held[pad] >> bit & 1 for bit in range(8)), 1, 1, 1, 1][:count] for held in _HELD[1:]]
    return b"".join(bytes(row).ljust(16, b"\0") for row in rows)


READS = Program(
    "pad_reads",
    "Strobe once, then eight reads of each pad: A, B, Select, Start, Up, Down, Left, Right.",
    _reads(8),
    12,
    {0x300: _bits(0, 8), 0x400: _bits(1, 8)},
    buttons=_HELD,
)

MORE_READS = Program(
    "pad_more_reads",
    "From the ninth read on a pad gives ones.",
    _reads(12),
    12,
    {0x300: _bits(0, 12), 0x400: _bits(1, 12)},
    buttons=_HELD,
    not_on_cynes="cynes gives zeros after the eighth read; the pads Nintendo made give ones",
)

STROBE = Program(
    "pad_strobe",
    "While the strobe is up each read gives A again; a strobe in the middle begins anew; only bit 0 counts.",
    f"""{PROLOGUE}
{_FRAME}
    ldx $10
    lda #$FF      ; up
    sta $4016
    lda $4016
    and #1
    sta $300,x
    lda $4016
    and #1
    sta $310,x
    lda $4017
    and #1
    sta $320,x
    lda #$FE      ; bit 0 falls
    sta $4016
    lda $4016
    lda $4016
    and #1
    sta $330,x    ; B
    lda #1
    sta $4016
    lsr
    sta $4016
    lda $4016
    and #1
    sta $340,x    ; A again
    lda #2
    sta $4016     ; no strobe
    lda $4016
    and #1
    sta $350,x    ; B
    inc $10
    rti
""",
    7,
    {
        0x300: b"\x00\x01\x00\x01\x00",
        0x310: b"\x00\x01\x00\x01\x00",
        0x320: b"\x00\x01\x01\x00\x01",
        0x330: b"\x01\x01\x00\x01\x00",
        0x340: b"\x00\x01\x00\x01\x00",
        0x350: b"\x01\x01\x00\x01\x00",
    },
    buttons=((1, 0), (2, 0), (3, 1), (4, 1), (0xFF, 0), (0, 0xFF)),
    not_on_cynes="cynes loads its pads at every write with bit 0 clear, and not while the strobe is up",
)

OPEN_BITS = Program(
    "pad_open_bits",
    "The upper bits of a pad read, and addresses where nothing answers, give the last byte on the CPU's bus.",
    f"""{PROLOGUE}
    lda #0
    sta $4016
    lda $4016
    sta $300
    lda $4017
    sta $301
    ldx #0
    lda $4016,x
    sta $302
    lda $4018
    sta $303
    lda $5A00
    sta $304
    lda $5FFF
    sta $305
    ldx #$10
    lda $54F0,x   ; crosses to $5500: the bus holds the operand's high byte, or the byte the first try read
    sta $306
    lda #$34
    sta $20
    lda #$56
    sta $21
    ldy #0
    lda ($20),y   ; the bus holds the pointer's high byte
    sta $307
    lda $4000
    sta $308
    lda $4014
    sta $309
end:
    jmp end
""",
    3,
    {0x300: b"\x40\x40\x40", 0x303: b"\x40\x5a\x5f\x54\x56\x40\x40"},
)

ROM_WRITES = Program(
    "rom_writes",
    "Writing to ROM changes nothing.",
    f"""{PROLOGUE}
    lda table
    sta $300
    lda #$12
    sta table
    inc table
    lda table
    sta $301
end:
    jmp end
table:
    .byte $A7
""",
    3,
    {0x300: b"\xa7\xa7"},
)

RAM_MIRRORS = Program(
    "ram_mirrors",
    "RAM repeats every $800 up to $1FFF.",
    f"""{PROLOGUE}
    lda #$11
    sta $0812
    lda #$22
    sta $1013
    lda #$33
    sta $1FFF
    lda #$44
    sta $14
    lda $1814
    sta $300
end:
    jmp end
""",
    3,
    {0x12: b"\x11\x22", 0x7FF: b"\x33", 0x300: b"\x44"},
)

PROGRAMS = [READS, MORE_READS, STROBE, OPEN_BITS, ROM_WRITES, RAM_MIRRORS]
