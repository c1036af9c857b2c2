"""What a game can observe of the APU: length counters, the frame counter and its interrupt, and the DMC channel."""

from programs import PROLOGUE, Program


def _status_samples(name: str, says: str, setup: str, period: int = 700, later: str = "", frames: int = 12) -> Program:
    """$4015 is read 255 times, one read every `period` cycles."""
    return Program(
        name,
        says,
        f"""{PROLOGUE}
    jmp start
    .page
start:
{setup}
loop:
    .mark
    lda $4015
    ldx $10
    sta $300,x
    inc $10
    beq end
{later}
    .rest {period - 3}
    jmp loop
end:
    jmp end
""",
        frames,
    )


_FOUR_LENGTHS = """
    lda #$0F
    sta $4015
    lda #$00
    sta $4000
    sta $4004
    sta $4008
    sta $400C
    lda #$18      ; the shortest: 2
    sta $4003
    lda #$28      ; 4
    sta $4007
    lda #$38      ; 6
    sta $400B
    lda #$00      ; 10
    sta $400F
"""

LENGTHS = [
    _status_samples(
        "lengths",
        "Four length counters run out one after another; the frame interrupt flag comes up and is cleared by reading.",
        "    lda #0\n    sta $4017" + _FOUR_LENGTHS,
    ),
    _status_samples(
        "lengths_five_steps",
        "The same in the five-step sequence, which clocks at once and never raises the interrupt.",
        _FOUR_LENGTHS + "    lda #$80\n    sta $4017",
    ),
    _status_samples(
        "lengths_no_interrupt",
        "The same with the interrupt forbidden.",
        _FOUR_LENGTHS + "    lda #$40\n    sta $4017",
    ),
    _status_samples(
        "lengths_halted",
        "Halted counters stand still; a channel that is off takes no length.",
        """
    lda #$40
    sta $4017
    lda #$0B      ; pulse, pulse, noise
    sta $4015
    lda #$20      ; halted
    sta $4000
    lda #$00
    sta $4004
    sta $400C
    lda #$80
    sta $4008
    lda #$18
    sta $4003
    sta $4007
    sta $400B
    sta $400F""",
    ),
    _status_samples(
        "lengths_many_clocks",
        "Writing $80 to $4017 clocks the counters each time.",
        """
    lda #$C0
    sta $4017
    lda #$0F
    sta $4015
    lda #0
    sta $4000
    sta $4004
    sta $4008
    sta $400C
    lda #$08      ; 254
    sta $4003
    lda #$50      ; 60
    sta $4007
    lda #$F8      ; 30
    sta $400B
    lda #$10      ; 20
    sta $400F""",
        later="    lda #$C0\n    sta $4017",
    ),
]


def _frame_flag(name: str, says: str, mode: int, first: int, before: str = "") -> Program:
    """Sixteen times: $4017 is written, and $4015 read twice, one cycle later each time."""
    rounds = "".join(
        f"""
    lda #$40
    sta $4017
    lda $4015
{before}
    lda #{mode}
    sta $4017
    .delay {first + i}
    lda $4015
    sta {0x300 + i}
    lda $4015
    sta {0x320 + i}
"""
        for i in range(16)
    )
    return Program(name, says, f"{PROLOGUE}\n{rounds}\nend:\n    jmp end\n", 24)


FRAME_FLAG = [
    _frame_flag("frame_flag", "When the frame interrupt flag comes up after $4017 is written, to the cycle.", 0, 29816),
    _frame_flag("frame_flag_odd", "The same, written a cycle later.", 0, 29816, "    bit $00"),
    _frame_flag("frame_flag_five_steps", "The five-step sequence does not raise it.", 0x80, 37270),
]


def _frame_irq(name: str, says: str, instruction: str, masked: str = "cli") -> Program:
    return Program(
        name,
        says,
        f"""{PROLOGUE}
    lda #$40
    sta $4017
    lda $4015
    {masked}
next:
    lda #0
    sta $4017
    .delay 29800
    jmp slide
    .page
slide:
{(instruction + chr(10)) * 40}
    .delay 301
    inc $11
    lda $11
    cmp #16
    bne again
end:
    jmp end
again:
    jmp next
irq:
    sta $20
    stx $21
    tsx
    lda $102,x
    ldx $10
    sta $300,x
    tsx
    lda $101,x
    ldx $10
    sta $320,x
    lda $4015
    sta $340,x
    inc $10
    lda $20
    ldx $21
    rti
""",
        22,
    )


FRAME_IRQ = [
    _frame_irq(
        "frame_irq_nops", "The frame interrupt is taken between NOPs; the handler keeps the return address.", "nop"
    ),
    _frame_irq("frame_irq_loads", "The same between loads of three cycles.", "lda $30"),
    _frame_irq("frame_irq_increments", "The same between increments of six cycles.", "inc abs $30"),
    _frame_irq("frame_irq_masked", "With I set it is not taken.", "nop", "sei"),
]

IRQ_MASKING = Program(
    "irq_masking",
    "CLI, SEI and PLP act on the interrupt one instruction late; RTI at once.",
    f"""{PROLOGUE}
    lda #0
    sta $4017
    .delay 30000  ; the flag is up, and stays until read
    jmp first
    .page
first:
    ldy #1
    cli
    nop           ; this one still runs
    nop
    ldy #2
    cli
    sei           ; taken after SEI, with I pushed clear or set
    nop
    nop
    ldy #3
    lda #$20
    pha
    plp
    nop
    nop
    ldy #4
    sei
    lda #>target
    pha
    lda #<target
    pha
    lda #$20
    pha
    rti
    nop
target:
    nop
    nop
    ldy #5
end:
    jmp end
irq:
    sta $20
    tsx
    lda $102,x
    ldx $10
    sta $300,x
    tsx
    lda $101,x
    tay
    ora #$04      ; come back with I set, the flag still up
    sta $101,x
    tya
    ldx $10
    sta $310,x
    inc $10
    lda $20
    rti
""",
    4,
    {0x10: b"\x04", 0x300: b"\x04\x09\x12\x21"},
)


def _samples(name: str, says: str, control: int, length: int, frames: int = 10) -> Program:
    """A sample is played; $4015 is read every 160 cycles; vblank reads betray stolen cycles."""
    return Program(
        f"samples_{name}",
        says,
        f"""{PROLOGUE}
    lda #$40
    sta $4017
    lda #{control}
    sta $4010
    lda #$40
    sta $4012
    lda #{length}
    sta $4013
    lda #$10
    sta $4015
    jmp loop
    .page
loop:
    .mark
    lda $4015
    ldx $10
    sta $300,x
    lda $2002
    sta $400,x
    inc $10
    beq end
    .rest 157
    jmp loop
end:
    lda #0
    sta $4010
    lda $4015
    sta $500
    lda #$10
    sta $4015
    lda $4015
    sta $501
    lda #0
    sta $4015
    lda $4015
    sta $502
    .delay 1000
    lda $4015
    sta $503
forever:
    jmp forever
""",
        frames,
    )


SAMPLES = [
    _samples("fast", "The DMC plays 17 bytes at the fastest rate, then raises its interrupt.", 0x8F, 1),
    _samples("slow", "One byte at the slowest rate, no interrupt.", 0x00, 0),
    _samples("looped", "A loop never ends and never raises the interrupt.", 0xCF, 1),
    _samples("long", "Sixty-five bytes at a middling rate.", 0x8A, 4),
]


def _sample_cost(name: str, says: str, control: int) -> Program:
    """A looped sample steals cycles from loops of known length; vblank is polled with counters."""
    return Program(
        f"sample_cost_{name}",
        says,
        f"""{PROLOGUE}
    lda #$40
    sta $4017
    lda #{control}
    sta $4010
    lda #$40
    sta $4012
    lda #$FF
    sta $4013
    lda #$10
    sta $4015
    bit $2002
frame:
    ldx #0
    ldy #0
poll:
    bit $2002
    bmi seen
    inx
    bne poll
    iny
    jmp poll
seen:
    txa
    ldx $10
    sta $300,x
    tya
    sta $340,x
    inc $10
    jmp frame
""",
        40,
    )


SAMPLE_COSTS = [
    _sample_cost("fast", "The cycles a looped sample at the fastest rate steals from a polling loop.", 0x4F),
    _sample_cost("slow", "The same at a slow rate.", 0x43),
]

PROGRAMS = [*LENGTHS, *FRAME_FLAG, *FRAME_IRQ, IRQ_MASKING, *SAMPLES, *SAMPLE_COSTS]
