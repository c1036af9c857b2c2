"""The PPU's ports: read buffer, increments, mirrors, palette, OAM, and the two write registers."""

from programs import PROLOGUE, Program

READ_BUFFER = Program(
    "read_buffer",
    "$2007 reads lag one behind, by 1 and by 32; tables are written and read through each nametable's mirror.",
    f"""{PROLOGUE}
    lda $2002
    lda #$20
    sta $2006
    lda #$00
    sta $2006
    ldx #$40
w1: stx $2007
    inx
    bne w1
    lda #$20
    sta $2006
    lda #$10
    sta $2006
    lda $2007
    lda $2007
    sta $300
    lda $2007
    sta $301
    lda #4        ; by 32
    sta $2000
    lda #$20
    sta $2006
    lda #$05
    sta $2006
    bit $2007
    lda $2007
    sta $302
    lda $2007
    sta $303
    lda #$A5
    sta $2007     ; at $2065 + 32
    lda $2007     ; still the buffered byte
    sta $304
    lda #0
    sta $2000
    ldy #0
    ldx #$20
mirrors:          ; the same cell, seen through $2000-$3FFF in steps of $400
    stx $2006
    lda #$07
    sta $2006
    bit $2007
    lda $2007
    sta $310,y
    iny
    inx
    inx
    inx
    inx
    cpx #$3C
    bne mirrors
    lda #$3F      ; tiles in ROM: a write does nothing
    sta $2006
    lda #$FF
    sta $2006
    sta $2007
    lda $2007     ; wraps to $0000: reads behind the palette fill the buffer from the nametable below
    sta $320
    lda $2007
    sta $321
    lda #0
    sta $2006
    lda #$18
    sta $2006
    bit $2007
    lda $2007
    sta $322
    lda #0
    sta $2006
    lda #$18
    sta $2006
    lda #$77
    sta $2007
    lda #0
    sta $2006
    lda #$18
    sta $2006
    bit $2007
    lda $2007
    sta $323
end:
    jmp end
""",
    3,
    {0x300: bytes((0x50, 0x51, 0x45, 0x65, 0x85)), 0x322: b"\xff\xff"},
)

PALETTE = Program(
    "palette_mirrors",
    "$3F10, $3F14, $3F18 and $3F1C are $3F00, $3F04 ...; reads come at once and fill the buffer from below.",
    f"""{PROLOGUE}
    lda $2002
    lda #$2F
    sta $2006
    lda #0
    sta $2006
    ldx #0
below:
    txa
    ora #$80
    sta $2007
    inx
    bne below
    lda #$3F
    sta $2006
    lda #0
    sta $2006
    ldx #0
set:
    txa
    ora #$C0      ; two bits too many
    sta $2007
    inx
    cpx #32
    bne set
    lda #$3F
    sta $2006
    lda #0
    sta $2006
    ldx #0
get:
    lda $2007
    and #$3F
    sta $300,x
    inx
    cpx #64
    bne get
    lda #$3F
    sta $2006
    lda #$00
    sta $2006
    lda #$11
    sta $2007
    lda #$3F
    sta $2006
    lda #$10
    sta $2006
    lda $2007
    and #$3F
    sta $340
    lda #$05
    sta $2006
    sta $2006
    lda $2007
    sta $341      ; the nametable byte behind $3F10
end:
    jmp end
""",
    3,
    {
        0x300: bytes((i % 32 | 0x10 if i % 4 == 0 else i % 32) for i in range(64)),
        0x340: b"\x11\x90",
    },
)

PALETTE_OPEN_BITS = Program(
    "palette_open_bits",
    "The upper two bits of a palette read are left over from the last byte on the PPU's bus.",
    f"""{PROLOGUE}
    lda $2002
    lda #$3F
    sta $2006
    lda #$01
    sta $2006
    lda #$15
    sta $2007
    lda #$3F
    sta $2006
    lda #$C1
    sta $2006
    lda $2007
    sta $300
    lda #$3F
    sta $2006
    lda #$41
    sta $2006
    lda $2007
    sta $301
end:
    jmp end
""",
    3,
    {0x300: b"\xd5\x55"},
)

OPEN_BUS = Program(
    "ppu_open_bus",
    "Ports that cannot be read, and the low bits of $2002, give the last byte on the PPU's bus; ports repeat every 8.",
    f"""{PROLOGUE}
    lda $2002
    ldx #$5B
    stx $2006
    lda $2000
    sta $300
    lda $2001
    sta $301
    lda $2003
    sta $302
    lda $2005
    sta $303
    lda $2006
    sta $304
    lda $2002
    and #$1F
    sta $305
    lda #$27
    sta $3FF6     ; $2006 again
    lda $2002
    and #$1F
    sta $306
    lda $3000
    and #$1F
    sta $307
    lda $2C02
    and #$1F
    sta $308
    lda #$0C
    sta $2003
    lda #$9E
    sta $2004
    lda $2000
    sta $309
    lda #$0C
    sta $2003
    lda $2004
    sta $30A
    lda $2001
    sta $30B
end:
    jmp end
""",
    3,
    {0x300: b"\x5b\x5b\x5b\x5b\x5b\x1b\x07\x07\x07\x9e\x9e\x9e"},
)

WRITE_TOGGLE = Program(
    "write_toggle",
    "$2005 and $2006 share one toggle, which $2002 resets, and one scratch address: read back through $2007.",
    f"""{PROLOGUE}
    lda $2002
    lda #$20
    sta $2006
    lda #$00
    sta $2006
    ldx #0
    ldy #4
fill:
    txa
    eor $20
    sta $2007
    inx
    bne fill
    inc $20
    dey
    bne fill
    lda $2002
    lda #$21
    sta $2006     ; first half ...
    lda $2002     ; ... forgotten
    lda #$22
    sta $2006
    lda #$34
    sta $2006
    bit $2007
    lda $2007
    sta $300
    lda #$7D      ; $2005 first: x scroll; $2006 second: low byte, and v = t
    sta $2005
    lda #$15
    sta $2006
    bit $2007
    lda $2007
    sta $301
    lda #$22
    sta $2006     ; first
    lda #$5E
    sta $2005     ; second: y scroll
    lda #$21
    sta $2005     ; first: x
    lda #$33
    sta $2006     ; second: v = t
    bit $2007
    lda $2007
    sta $302
    lda #0        ; $2000 changes the nametable bits of the scratch address only
    sta $2006
    lda #3
    sta $2000
    lda #$40
    sta $2006
    bit $2007
    lda $2007
    sta $303
    lda #0
    sta $2000
end:
    jmp end
""",
    3,
)


OAM_PORT = Program(
    "oam_port",
    "$2004 writes move the OAM address, reads do not; attribute bytes lack three bits.",
    f"""{PROLOGUE}
    lda #$FE
    sta $2003
    ldx #0
w:  stx $2004
    inx
    cpx #16
    bne w
    lda #$FE
    sta $2003
    lda $2004
    sta $300
    lda $2004
    sta $301
    ldx #0
r:  stx $2003
    lda $2004
    sta $310,x
    inx
    cpx #16
    bne r
    lda #2
    sta $2003
    lda #$FF
    sta $2004
    lda #2
    sta $2003
    lda $2004
    sta $302
end:
    jmp end
""",
    3,
    {0x300: b"\x00\x00\xe3", 0x310: bytes((2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0, 13, 14, 15))},
)

PROGRAMS = [
    READ_BUFFER,
    PALETTE,
    PALETTE_OPEN_BITS,
    OPEN_BUS,
    WRITE_TOGGLE,
    OAM_PORT,
]
