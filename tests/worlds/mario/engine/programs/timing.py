"""Where cycles go: OAM DMA, NMI within it, and the dot that every other drawn frame leaves out."""

from programs import PROLOGUE, Program
from programs.interrupts import DRIFT_LOOP, FRAME_DOTS, SWEEP, VBLANK, drift, start_cycle


def _flag(phase: int) -> int:
    return 0x80 if phase >= 0 else 0


def _dma_body() -> str:
    """Four transfers: the first comes at either parity, pass by pass; each then leaves the parity known."""
    return """
    lda $2002
    ldx $10
    sta $300,x
    inc $10
    lda #2
    .rest 97
    sta $4014     ; written in cycle 100 of this pass
    .spent 513
    nop
    sta $4014     ; 6 cycles after the first ended: the same parity as the first transfer's end
    .spent 513
    lda $30
    sta $4014     ; 7 cycles: the other parity
    .spent 514
"""


def _dma_facts() -> bytes:
    """A transfer takes 513 cycles when $4014 is written in an even cycle, 514 in an odd one."""
    seen = []
    pass_start = start_cycle(-40) - 3
    for i in range(SWEEP - 4):
        seen.append(_flag((pass_start + 3) * 3 + 1 - (VBLANK + FRAME_DOTS * (i + 1))))
        write, extra = pass_start + 100, 0
        for gap in (6, 7, 0):
            length = 513 + write % 2
            extra += length
            write += length + gap
        pass_start += DRIFT_LOOP + extra - (513 + 513 + 514)
    return bytes(seen)


DMA_LENGTH = Program(
    "dma_length",
    "Transfers at both parities take 513 or 514 cycles, or the reads of $2002 would not keep their drift.",
    drift(start_cycle(-40), _dma_body(), 3),
    SWEEP,
    {0x300: _dma_facts()},
)


def _alone(parity: int) -> Program:
    write = 30_000 + parity
    read = start_cycle(-4)
    reads = "".join(
        f"""
    .rest {read - 3 + 29781 * i}
    lda $2002
    sta {0x300 + i}""".replace("sta 7", "sta abs 7")
        for i in range(12)
    )
    return Program(
        f"dma_{('even', 'odd')[parity]}",
        f"A transfer begun in an {('even', 'odd')[parity]} cycle takes {513 + parity} cycles, by the vblank flag.",
        f"""{PROLOGUE}
    lda #2
    .rest {write - 3}
    sta $4014
    .spent {513 + parity}
{reads}
end:
    jmp end
""",
        16,
        {0x300: bytes(_flag(-4 + i) for i in range(12))},
    )


DMA_NMI = Program(
    "dma_nmi",
    "NMI arrives before, at every point near the ends of, and during a DMA; the handler keeps the address returned to.",
    drift(
        start_cycle(-40),
        """
    .spent 44
    lda #2
    sta $4014
    .spent 513
    nop
    nop
    nop
    nop
    .rest 9000
    nop""",
        5,
        nmi=True,
    )
    + """
nmi:
    sta $20
    stx $21
    tsx
    lda $102,x
    ldx $10
    sta $300,x
    inc $10
    lda $20
    ldx $21
    rti
""",
    SWEEP,
)

DMA_DURING_NMI_EDGE = Program(
    "dma_nmi_end",
    "NMI arrives around the end of a DMA: after how many of the instructions that follow it is taken.",
    DMA_NMI.source.replace(f".rest {start_cycle(-40) - 5 - 5}", f".rest {start_cycle(-40) - 5 - 5 - 513}"),
    SWEEP,
)

DMA_COPIES = Program(
    "dma_copies",
    "A transfer begins at the OAM address, wraps, takes its bytes from any page, and $2004 reads them back.",
    f"""{PROLOGUE}
    ldx #0
fill:
    txa
    eor #$5A
    sta $200,x
    inx
    bne fill
    lda #$10
    sta $2003
    lda #2
    sta $4014
    ldx #0
back:
    stx $2003
    lda $2004
    sta $300,x
    inx
    bne back
    lda #0
    sta $2003
    lda #>table
    sta $4014
    ldx #0
back2:
    stx $2003
    lda $2004
    sta $400,x
    inx
    bne back2
end:
    jmp end
    .page
table:
    .byte {", ".join(str((i * 7 + 3) & 0xFF) for i in range(256))}
""",
    3,
    {
        0x300: bytes((((i - 0x10) & 0xFF) ^ 0x5A) & (0xE3 if i % 4 == 2 else 0xFF) for i in range(256)),
        0x400: bytes((i * 7 + 3) & (0xE3 if i % 4 == 2 else 0xFF) for i in range(256)),
    },
)


def _skip_facts() -> bytes:
    """The read keeps pace with 89,342 dots; a drawn frame after an odd vblank has 89,341."""
    seen = []
    phase = -31
    for i in range(SWEEP - 4):
        seen.append(_flag(phase))
        # pass i reads near vblank i + 2; the frame up to the next vblank is short when that number is odd
        phase += 1 + (1 if (i + 2) % 2 == 1 else 0)
    return bytes(seen)


SKIP = Program(
    "odd_frame_skip",
    "With drawing on, every other frame is one dot shorter: the read of $2002 drifts one and two dots in turn.",
    drift(
        start_cycle(-31),
        """
    lda $2002
    and #$80
    ldx $10
    sta $300,x
    inc $10
    .rest 40
    lda #8
    sta $2001""",
        3,
    ),
    SWEEP,
    {0x300: _skip_facts()},
)


def _skip_switch(on: bool, vblank: int, dot: int) -> Program:
    """Drawing changes right after a dot of the pre-render line; a read in the later race window shows if it counted."""
    end_of_vblank = VBLANK + FRAME_DOTS * (vblank - 1) + 6820 - 1
    write = (end_of_vblank + dot - 1) // 3
    before, after = (0, 8) if on else (8, 0)
    witness = 5 if vblank < 5 else 8  # the vblanks one dot before which an access may fall
    return Program(
        f"skip_{'on' if on else 'off'}_after_{dot}_of_vblank_{vblank}",
        f"Drawing goes {'on' if on else 'off'} after dot {dot} of the pre-render line: a dot is left out or not.",
        f"""{PROLOGUE}
    .rest {write - 300}
    lda #{before}
    sta $2001
    lda #{after}
    .rest {write - 3}
    sta $2001
    lda #0
    .rest {write + 3000}
    sta $2001
    .rest {start_cycle(-1, witness) - 3}
    lda $2002
    sta $300
end:
    jmp end
""",
        witness + 1,
        {0x300: bytes([0x80 if (dot < 338) == on else 0])},
    )


# The dots an access can end on differ with the alignment of the three vblanks.
SKIP_SWITCHES = [
    _skip_switch(on, vblank, dot)
    for on in (True, False)
    for vblank, dots in ((1, (334, 337, 340)), (3, (333, 336, 339)), (5, (335, 338, 341)))
    for dot in dots
]

PROGRAMS = [
    DMA_LENGTH,
    _alone(0),
    _alone(1),
    DMA_NMI,
    DMA_DURING_NMI_EDGE,
    DMA_COPIES,
    SKIP,
    *SKIP_SWITCHES,
]
