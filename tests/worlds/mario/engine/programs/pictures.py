"""Programs whose outcome is the picture: scrolling, splits in mid-frame, sprites of all kinds, masks and colours."""

import random

from programs import Program
from programs.screen import drawing


def _random_chr(seed: int) -> bytes:
    return random.Random(seed).randbytes(0x2000)


def _scrolled(vertical: bool) -> Program:
    """Moves by odd amounts, so that within 40 frames each fine x and y and each nametable comes up."""
    body = """
next:
    lda $2002
    lda $10
    sta $2005
    lda $11
    sta $2005
    lda $12
    lsr
    lsr
    and #3
    ora #$10
    sta $2000
    lda #$1E
    sta $2001
    clc
    lda $10
    adc #37
    sta $10
    clc
    lda $11
    adc #53
    sta $11
    inc $12
    jsr wait_vblank
    jmp next
"""
    way = "vertical" if vertical else "horizontal"
    says = f"The whole picture scrolled to many places, {way} mirroring, y beyond 239 included."
    return Program(f"scrolled_{way}", says, drawing(body), 44, drawn_from=5, vertical=vertical, chr_rom=_random_chr(1))


def _split(
    name: str, says: str, writes: str, step: int = 40, before: str = "", frames: int = 48, mask: int = 0x1E
) -> Program:
    """The writes come once a frame, `step` cycles later each time, beginning near the top of the picture."""
    body = f"""{before}
    lda #{mask}
    sta $2001
    jmp loop
    .page
loop:
    .mark
    .delay 2400
{writes}
    .rest 27000
    lda $2002
    lda #0
    sta $2005
    sta $2005
    sta $2000
    lda #{mask}
    sta $2001
    .rest {29781 + step - 3}
    jmp loop
"""
    # The restoring writes wander through vblank and beyond; every frame is compared all the same.
    return Program(f"split_{name}", says, drawing(body), frames, drawn_from=5, chr_rom=_random_chr(2), vertical=True)


SPLITS = [
    _split(
        "x", "$2005 is written in mid-line: fine x at once, coarse x from the next line.", "    lda #$5D\n    sta $2005"
    ),
    _split(
        "x_by_dots", "The same, wandering dot by dot over the end of a line.", "    lda #$5D\n    sta $2005", step=1
    ),
    _split("y", "Both halves of $2005: y waits for the next frame.", "    lda #$33\n    sta $2005\n    sta $2005"),
    _split(
        "address",
        "Two writes to $2006 move the picture at once.",
        "    lda #$21\n    sta $2006\n    lda #$8A\n    sta $2006",
    ),
    _split(
        "address_by_dots",
        "The same, wandering over the end of a line.",
        "    lda #$21\n    sta $2006\n    lda #$8A\n    sta $2006",
        step=1,
    ),
    _split(
        "address_and_scroll",
        "The full split: $2006, $2005, $2005, $2006.",
        "    lda #4\n    sta $2006\n    lda #$52\n    sta $2005\n"
        "    lda #$35\n    sta $2005\n    lda #$46\n    sta $2006",
        step=57,
    ),
    _split("table", "$2000 changes nametable and pattern table in mid-frame.", "    lda #$13\n    sta $2000", step=58),
    _split("table_by_dots", "The same, wandering over the end of a line.", "    lda #$11\n    sta $2000", step=1),
    _split(
        "first_line", "$2005 is written around the end of the pre-render line.", "    lda #$5D\n    sta $2005", step=-3
    ),
]

MASKS = [
    _split(
        "background_off",
        "The background goes off and on in mid-frame.",
        "    lda #$16\n    sta $2001\n    .delay 500\n    lda #$1E\n    sta $2001",
    ),
    _split(
        "all_off",
        "Drawing goes off and on again in mid-frame, lines later.",
        "    lda #0\n    sta $2001\n    .delay 700\n    lda #$1E\n    sta $2001",
    ),
    _split(
        "all_off_by_dots",
        "Drawing goes off for some dots, wandering dot by dot.",
        "    lda #0\n    sta $2001\n    .delay 20\n    lda #$1E\n    sta $2001",
        step=1,
        frames=120,
    ),
    _split("clip", "The left column's clipping changes in mid-frame.", "    lda #$18\n    sta $2001"),
]


def _crowd(name: str, says: str, control: int, mask: int, seed: int, spread: int = 240) -> Program:
    """Four OAM pages of random sprites, shown in turn over a scrolled background."""
    chance = random.Random(seed)
    pages = "\n".join(
        "    .byte "
        + ", ".join(
            str(byte)
            for _ in range(64)
            for byte in (chance.randrange(spread), chance.randrange(256), chance.randrange(256), chance.randrange(256))
        )
        for _ in range(4)
    )
    body = f"""
next:
    lda #0
    sta $2003
    lda $10
    and #3
    clc
    adc #>pages
    sta $4014
    lda #{control}
    sta $2000
    lda $10
    sta $2005
    sta $2005
    lda #{mask}
    sta $2001
    inc $10
    jsr wait_vblank
    jmp next
"""
    source = drawing(body, extra=f"    .page\npages:\n{pages}")
    return Program(f"crowd_{name}", says, source, 12, drawn_from=5, chr_rom=_random_chr(seed))


CROWDS = [
    _crowd("small", "Random 8x8 sprites: flips, palettes, priorities, more than eight on a line.", 0x08, 0x1E, 11),
    _crowd("small_low_table", "The same from the other pattern table.", 0x10, 0x1E, 12),
    _crowd("dense", "Sixty-four sprites in sixty lines.", 0x08, 0x1E, 13, 60),
    _crowd("tall", "Random 8x16 sprites: the tile's bit 0 chooses the table.", 0x20, 0x1E, 14),
    _crowd("tall_dense", "8x16 sprites in sixty lines.", 0x30, 0x1E, 15, 60),
    _crowd("clipped", "Sprites and background are clipped at the left.", 0x08, 0x18, 16),
    _crowd("clipped_sprites", "Only the sprites are clipped at the left.", 0x08, 0x1A, 17),
    _crowd("sprites_only", "Sprites on the backdrop colour.", 0x08, 0x14, 18),
    _crowd("background_only", "The same OAM with the sprites off.", 0x08, 0x0A, 19),
]

BACKDROP = Program(
    "backdrop",
    "With drawing off the screen shows the backdrop, or the palette entry the address points at.",
    drawing(
        """
next:
    lda #$3F
    sta $2006
    lda $10
    sta $2006
    inc $10
    .delay 3000
    lda #$3F      ; in mid-frame, another entry
    sta $2006
    lda $10
    eor #$15
    sta $2006
    .delay 9000
    lda #0        ; and away from the palette
    sta $2006
    sta $2006
    jsr wait_vblank
    jmp next
"""
    ),
    40,
    drawn_from=5,
)

COLOURS = Program(
    "colours",
    "All sixty-four colours, written to the backdrop one after another while drawing is off.",
    drawing(
        """
next:
    .delay 2500
    lda #0
    sta $10
colour:
    lda #$3F
    sta $2006
    lda #0
    sta $2006
    lda $10
    sta $2007
    lda #0
    sta $2006
    sta $2006
    .delay 360
    inc $10
    lda $10
    cmp #64
    bne colour
    jsr wait_vblank
    jmp next
"""
    ),
    8,
    drawn_from=5,
)

PROGRAMS = [_scrolled(False), _scrolled(True), *SPLITS, *MASKS, *CROWDS, BACKDROP, COLOURS]
