"""Sprite 0 hit at every position, and sprite overflow with its faults."""

import random

from programs import Program
from programs.screen import drawing

# Moves sprite 0 to x = $10 in vblank, draws, and counts polls until the hit: $300 + x = low byte, $400 + x = high byte
# of the count; $500 + x = 2 for a hit, 1 for none before the next vblank.
_POLL = """
next:
    lda #0
    sta $2003
    lda #{y}
    sta $2004
    lda #{tile}
    sta $2004
    lda #{attributes}
    sta $2004
    lda $10
    sta $2004
    lda #{control}
    sta $2000
    lda #0
    sta $2005
    sta $2005
    lda #{mask}
    sta $2001
    .delay 2100       ; close to the end of vblank
clear_wait:
    bit $2002
    bvs clear_wait    ; the last frame's hit goes away there
    ldx #0
    ldy #0
poll:
    lda $2002
    asl
    bcs none
    bmi hit
    inx
    bne poll
    iny
    jmp poll
none:
    ldx $10
    lda #1
    sta $500,x
    bne count
hit:
    txa
    ldx $10
    sta $300,x
    tya
    sta $400,x
    lda #2
    sta $500,x
    jsr wait_vblank
count:
    inc $10
    bne next
end:
    jmp end
"""


def _sprite_zero(name: str, says: str, hits: range, tile_behind: str = "1", **values: int) -> Program:
    settings = {"y": 100, "tile": 1, "attributes": 0, "control": 0, "mask": 0x1E} | values
    source = drawing(_POLL.format(**settings), tile=tile_behind)
    facts = {0x500: bytes(2 if x in hits else 1 for x in range(256))}
    return Program(f"sprite_zero_{name}", f"Sprite 0 at every x: {says}.", source, 340, facts)


# A hit never happens in the last column, x = 255.
SPRITE_ZERO = [
    _sprite_zero("full", "a full tile on a full background", range(255)),
    _sprite_zero("pixel", "one pixel, top left", range(255), tile=2),
    _sprite_zero("flipped_x", "one pixel, flipped to the top right", range(248), tile=2, attributes=0x40),
    _sprite_zero("flipped_y", "one pixel, flipped to the bottom left", range(255), tile=2, attributes=0x80),
    _sprite_zero("clipped_background", "the background's left column is clipped", range(8, 255), tile=2, mask=0x1C),
    _sprite_zero("clipped_sprites", "the sprites' left column is clipped", range(8, 255), tile=4, mask=0x1A),
    _sprite_zero("clipped_both", "both clipped, pixels at x + 7", range(1, 248), tile=4, attributes=0x40, mask=0x18),
    _sprite_zero("behind", "behind the background it still hits", range(255), tile=6, attributes=0x20),
    _sprite_zero("first_line", "the sprite's first line is screen line 1", range(255), y=0, tile=5),
    _sprite_zero("last_line", "the sprite's first line is the last of the screen", range(255), y=238, tile=5),
    _sprite_zero("below", "a sprite below the screen does not hit", range(0), y=239, tile=5),
    _sprite_zero("tall", "8x16, only the lower tile has pixels", range(255), tile=0, control=0x20, y=60),
    _sprite_zero("tall_flipped", "8x16 upside down", range(255), tile=1, attributes=0xC0, control=0x20, y=60),
    _sprite_zero("no_background", "nothing is hit while the background is off", range(0), mask=0x16),
    _sprite_zero("diagonals", "a diagonal on a background of single columns", range(249), tile=6, tile_behind="4"),
    _sprite_zero("corner", "a pixel on one of single pixels", range(7, 255, 8), tile=2, tile_behind="3", y=102),
]


def _oam_pages() -> list[list[int]]:
    """OAM images: known cases of overflow first, then random crowds."""
    away = [0xFF, 0xFF, 0xFF, 0xFF]

    def page(*sprites: list[int]) -> list[int]:
        return [byte for sprite in [*sprites, *[away] * (64 - len(sprites))] for byte in sprite]

    def row(y: int, count: int) -> list[list[int]]:
        return [[y, 1, 0, 8 * i] for i in range(count)]

    pages = [
        page(*row(34, 8)),  # eight: no overflow
        page(*row(34, 9)),  # nine: overflow
        page(*row(239, 9)),  # on no line
        page(
            *row(34, 8), [0xFF, 34, 0xFF, 0xFF]
        ),  # the diagonal: sprite 8 is looked at with its y, sprite 9 its tile ...
        page(*row(34, 8), away, [0xFF, 34, 0xFF, 0xFF]),
        page(*row(34, 8), away, [34, 0xFF, 0xFF, 0xFF]),  # ... so a ninth right behind a gap is missed
        page(*row(34, 8), away, away, [0xFF, 0xFF, 34, 0xFF]),
        page(*row(34, 8), away, away, away, [0xFF, 0xFF, 0xFF, 34]),
        page(*row(34, 8), away, away, away, away, [34, 0xFF, 0xFF, 0xFF]),
        page(*row(34, 4), *row(38, 5)),  # nine only where they overlap
        page(*row(0, 9)),
        page(*row(231, 9)),
    ]
    chance = random.Random(2002)
    for crowd in (10, 20, 30, 40, 64, 64, 64, 64):
        ys = [chance.choice([0xFF, *range(20, 220, 9)]) for _ in range(4)]
        pages.append(
            page(
                *(
                    [chance.choice(ys), chance.choice(ys), chance.choice(ys), chance.randrange(256)]
                    for _ in range(crowd)
                )
            )
        )
    for _ in range(12):
        pages.append(
            page(*([chance.randrange(30, 70), chance.randrange(256), chance.randrange(256), i] for i in range(64)))
        )
    return pages


def _overflow(name: str, says: str, control: int, mask: int) -> Program:
    pages = _oam_pages()
    tables = "\n".join("    .byte " + ", ".join(map(str, page)) for page in pages)
    body = f"""
    lda #>tables
    sta $11
next:
    jsr wait_vblank
    lda #0
    sta $2003
    lda $11
    sta $4014
    lda #{control}
    sta $2000
    lda #{mask}
    sta $2001
    .delay 2300
    ldx #0
    ldy #0
    lda #$20
poll:
    bit $2002
    bmi none
    bne over
    inx
    bne poll
    iny
    jmp poll
none:
    ldx #0
    ldy #0
over:
    txa
    ldx $10
    sta $300,x
    tya
    sta $340,x
    lda $2002
    and #$20
    sta $380,x
    inc $11
    inc $10
    lda $10
    cmp #{len(pages)}
    bne next
end:
    jmp end
"""
    source = drawing(body, tile="1", extra=f"    .page\ntables:\n{tables}")
    facts = {0x380: bytes(0x20 * seen for seen in (0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1))}
    return Program(f"overflow_{name}", says, source, len(pages) * 2, facts)


OVERFLOW = [
    _overflow(
        "small", "When the overflow flag is seen for crowds of 8x8 sprites, known cases and random ones.", 0, 0x1E
    ),
    _overflow("tall", "The same for 8x16 sprites.", 0x20, 0x1E),
    _overflow(
        "background_only", "Overflow is found with the sprites hidden, as long as the background is drawn.", 0, 0x08
    ),
]

PROGRAMS = [*SPRITE_ZERO, *OVERFLOW]
