"""NMI: its flag, its moment, its races. Loops of 29,781 cycles drift a dot a frame, so a sweep sees each alignment."""

from collections.abc import Callable

from programs import PROLOGUE, Program

FRAME_DOTS = 89_342
DRIFT_LOOP = 29_781  # cycles: one dot more than a frame without rendering
VBLANK = 82_158  # dots from the first instruction to the first vblank; an access in cycle c sees the dots up to 3c + 1
SWEEP = 64


def start_cycle(phase: int, vblank: int = 2) -> int:
    """The cycle of an access whose last finished dot is `phase` after the given vblank's dot."""
    dots = VBLANK + (vblank - 1) * FRAME_DOTS + phase - 1
    assert dots % 3 == 0, "an access cannot fall there; move the phase"
    return dots // 3


def drift(first_access: int, body: str, offset: int, nmi: bool = False) -> str:
    """A loop that drifts one dot a frame; its first pass begins `offset` cycles before cycle `first_access`."""
    return f"""{PROLOGUE}
    .rest 40000     ; the first vblank is over
    lda #{0x80 if nmi else 0}
    sta $2000
    .rest {first_access - offset - 5}
    clc
    jmp loop
    .page
loop:
    .mark
{body}
    .rest {DRIFT_LOOP - 3}
    jmp loop
"""


def sweep(phase: int, value: Callable[[int], int]) -> bytes:
    return bytes(value(phase + i) for i in range(SWEEP - 4))


def _flag_first(phase: int) -> int:
    return 0x80 if phase >= 0 else 0


def _flag_second(phase: int) -> int:
    return 0x80 if phase + 12 >= 0 and phase < -1 and phase + 12 != -1 else 0


VBLANK_FLAG = Program(
    "vblank_flag",
    "Two reads of $2002, four cycles apart, drift over the start of vblank: the flag, its clearing, its suppression.",
    drift(
        start_cycle(-40),
        """
    lda $2002
    ldy $2002
    ldx $10
    sta $300,x
    tya
    sta $380,x
    inc $10""",
        3,
    ),
    SWEEP,
    {0x300: sweep(-40, _flag_first), 0x380: sweep(-40, _flag_second)},
)

VBLANK_END = Program(
    "vblank_end",
    "A read of $2002 drifts over the end of vblank.",
    drift(
        start_cycle(-41 + 6820),
        """
    lda $2002
    ldx $10
    sta $300,x
    inc $10""",
        3,
    ),
    SWEEP,
    {0x300: bytes(0x80 if phase < 0 else 0 for phase in range(-41, -41 + SWEEP - 4))},
)

# Saves the low byte of the address to return to; takes 37 cycles, 44 with the interrupt itself.
_RECORD_RETURN = """
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
"""


def _return_of(length: int, size: int, phase: int, early: int) -> bytes:
    """Return addresses when instructions of one length are interrupted: NMI is polled on the last cycle but one."""
    returns = []
    start = start_cycle(phase)
    for i in range(SWEEP - 4):
        edge = (VBLANK + FRAME_DOTS * (i + 1)) // 3
        done = -(-(edge + 1 + early - (start + DRIFT_LOOP * i) - (length - 1)) // length) + 1
        returns.append(done * size)
    return bytes(returns)


def _nmi_in(name: str, instruction: str, length: int, size: int, early: int = 0) -> Program:
    phase = -70
    return Program(
        f"nmi_in_{name}",
        f"NMI arrives at every point of `{instruction}`; the handler keeps the address it returns to.",
        drift(
            start_cycle(phase),
            f"""
    .spent 44
{(instruction + chr(10)) * (84 // length)}
    .spent {(84 // length) * (length - 2) if instruction.startswith("bcc") else 0}
""",
            0,
            nmi=True,
        )
        + _RECORD_RETURN,
        SWEEP,
        {0x300: _return_of(length, size, phase, early)},
        not_on_cynes="cynes polls a taken branch like any other; hardware does so a cycle earlier" if early else "",
    )


NMI_IN = [
    _nmi_in("nops", "nop", 2, 1),
    _nmi_in("loads", "lda $30", 3, 2),
    _nmi_in("long_loads", "lda $330", 4, 3),
    _nmi_in("increments", "inc $30", 5, 2),
    _nmi_in("long_increments", "inc abs $30", 6, 3),
    _nmi_in("indexed_increments", "inc $400,x", 7, 3),
    _nmi_in("branches", "bcc *+2", 3, 2, early=1),
]

# Counts; where none came the loop waits as long as one would have taken (7 + 11 cycles, and the branch not taken).
_COUNTED = """
    lda $11
    bne had
    .delay 19
had:
    ldx $10
    sta $380,x
    lda #0
    sta $11
    inc $10
"""
_COUNT = """
nmi:
    inc $11
    rti
"""


NMI_READ_RACE = Program(
    "nmi_read_race",
    "With NMI on, a read of $2002 drifts over the start of vblank: what it reads, and whether NMI still comes.",
    drift(
        start_cycle(-40),
        f"""
    lda $2002
    ldx $10
    sta $300,x
    .rest 40
{_COUNTED}""",
        3,
        nmi=True,
    )
    + _COUNT,
    SWEEP,
    {0x300: sweep(-40, _flag_first), 0x380: sweep(-40, lambda phase: int(phase not in (-1, 0, 1)))},
)

NMI_OFF_RACE = Program(
    "nmi_off_race",
    "NMI is switched off around the start of vblank, at every alignment: whether it still comes.",
    drift(
        start_cycle(-40),
        f"""
    lda #0
    sta $2000
    .rest 60
{_COUNTED}
    .rest 10000
    lda #$80
    sta $2000""",
        5,
        nmi=True,
    )
    + _COUNT,
    SWEEP,
    {0x380: sweep(-40, lambda phase: int(phase >= 2))},
)

NMI_ON_RACE = Program(
    "nmi_on_race",
    "NMI is switched on around the start of vblank, at every alignment; the handler keeps the address it returns to.",
    drift(
        start_cycle(-40),
        """
    .spent 44
    lda #$80
    sta $2000
    nop
    nop
    lda $30
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    .rest 9000
    lda #0
    sta $2000""",
        5,
    )
    + _RECORD_RETURN,
    SWEEP,
    {0x300 + 40: bytes([6]) * 20},
)

NMI_ON_END_RACE = Program(
    "nmi_on_end_race",
    "NMI is switched on around the end of vblank, at every alignment: whether it comes.",
    drift(
        start_cycle(-41 + 6820),
        f"""
    lda #$80
    sta $2000
    .rest 60
{_COUNTED}
    lda #0
    sta $2000
    .rest 24000
    bit $2002""",
        5,
    )
    + _COUNT,
    SWEEP,
    {0x380: sweep(-41, lambda phase: int(phase < -1))},
)

NMI_LATE = Program(
    "nmi_late",
    "Switching NMI on while the flag stands raises it after the next instruction, each time anew; once read, no more.",
    f"""{PROLOGUE}
wait:
    bit $2002
    bpl wait
    .delay 27000
wait2:
    bit $2002
    bpl wait2
    .delay 29000
    ldx #0
    ldy #0
    .delay 1200
    jmp go
    .page
go:
    ldx #$80
    lda #0
    stx $2000     ; the flag stands
a:  ldy #1        ; one instruction later
b:  sta $2000
    stx $2000
    inx
    sta $2000
    dex
    stx $2000
    stx $2000     ; already on: no new edge
    nop
    sta $2000
    bit $2002
    stx $2000     ; the flag was read: nothing
    nop
    nop
    sta $2000
end:
    jmp end
nmi:
    sta $20
    stx $21
    tsx
    lda $102,x
    ldx $10
    sta $300,x
    tya
    sta $310,x
    inc $10
    lda $20
    ldx $21
    rti
""",
    6,
    {0x10: b"\x03", 0x300: b"\x09\x10\x1a\x00", 0x310: b"\x01\x01\x01\x00"},
)

PROGRAMS = [
    VBLANK_FLAG,
    VBLANK_END,
    *NMI_IN,
    NMI_READ_RACE,
    NMI_OFF_RACE,
    NMI_ON_RACE,
    NMI_ON_END_RACE,
    NMI_LATE,
]
