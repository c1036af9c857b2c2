"""The processor as a whole: flags on the stack, self-modified code, jams, reset, BRK and NMI."""

from programs import PROLOGUE, Program
from programs.interrupts import SWEEP, drift, start_cycle

FLAGS = Program(
    "flags_on_the_stack",
    "PHP and BRK push B and bit 5 set, interrupts push B clear; PLP and RTI ignore both; D has no effect on sums.",
    f"""{PROLOGUE}
    lda #$FF
    pha
    plp
    php
    pla
    sta $300
    lda #$00
    pha
    plp
    php
    pla
    sta $301
    ldx #1
    brk
    .byte 0       ; skipped
    stx $302
    lda #4
    pha
    plp           ; Z and I as they are pushed
    sed
    clc
    lda #$19
    adc #$28
    sta $303
    sec
    lda #$50
    sbc #$19
    sta $304
    php
    pla
    sta $305
    cld
    bit $2002
    lda #$80
    sta $2000
wait:
    lda $310
    beq wait
    lda #0
    sta $2000
end:
    jmp end
irq:
    pla
    pha
    sta $306
    php
    pla
    sta $307      ; I is set inside
    inx
    rti
nmi:
    pla
    pha
    sta $308
    lda #1
    sta $310
    rti
""",
    4,
    {0x300: b"\xff\x30\x02\x41\x37\x3d\x30\x34"},
)

STACK = Program(
    "stack_wrap",
    "The stack wraps within its page, JSR pushes the address of its last byte, JMP (xxFF) reads its high byte wrongly.",
    f"""{PROLOGUE}
    ldx #0
    txs
    lda #$5A
    pha
    tsx
    stx $300      ; $FF
    pla
    ldx #1
    txs
    jsr sub
    ldx #$FF
    txs
    lda #<good
    sta $02FF
    lda #>good
    sta $0200
    lda #>bad
    sta $0300
    jmp ($02FF)
bad:
    lda #$EE
    sta $303
good:
    lda #$60
    sta $304
    sta $00
    lda #$AD      ; a pointer that wraps in the zero page
    sta $00
    lda #$12
    sta $FF
    ldy #0
    lda #$77
    sta $0512
    lda #$05
    sta $00
    lda ($FF),y
    sta $305
    ldx #1
    lda ($FE,x)
    sta $306
    ldx #$10
    lda #$99
    sta $08
    lda $F8,x     ; wraps to $08
    sta $307
end:
    jmp end
    .page
    nop
sub:
    lda $0101
    sta $301
    lda $0100
    sta $302
    rts
""",
    3,
    {0x301: bytes((0x80,)), 0x304: b"\x60\x77\x77\x99"},
)

SELF_MODIFIED = Program(
    "self_modified",
    "Code in RAM that rewrites its own operands and opcodes while it runs, and a routine built and called each frame.",
    f"""{PROLOGUE}
    ldx #0
copy:
    lda routine,x
    sta $600,x
    inx
    cpx #routine_end-routine
    bne copy
    bit $2002
    lda #$80
    sta $2000
idle:
    jmp idle
nmi:
    inc $10
    jsr $600
    lda $10
    sta $601      ; the operand of the first instruction
    and #1
    beq even
    lda #$E8      ; INX
    bne put
even:
    lda #$CA      ; DEX
put:
    sta $600+change-routine
    rti
routine:
    lda #0
    inc $600+target-routine+1
target:
    adc #0        ; its operand grows just before it runs
    sta $300
    ldx $301
change:
    nop
    stx $301
    dec $600+last-routine-1
    lda #$20
last:
    sta $302
    rts
routine_end:
""",
    12,
)


JAM = Program(
    "jam",
    "A code that jams the processor stops everything: no interrupt is taken any more, frames go by.",
    f"""{PROLOGUE}
    bit $2002
    lda #$80
    sta $2000
wait:
    lda $10
    cmp #2
    bne wait
    lda #1
    sta $300
    jam
    lda #2
    sta $300
end:
    jmp end
nmi:
    inc $10
    rti
""",
    8,
    {0x10: b"\x02", 0x300: b"\x01"},
)

RESET = Program(
    "reset_button",
    "Reset keeps RAM, takes three from the stack pointer, sets I, and goes through the vector again.",
    """
reset:
    php
    pla
    sta $12
    tsx
    stx $11
    lda $2F0
    cmp #$A5
    beq warm
    lda $2F1
    cmp #$5A
    beq warm
    ldx #0
    txa
clear:
    sta $00,x
    sta $100,x
    sta $200,x
    sta $300,x
    sta $400,x
    sta $500,x
    sta $600,x
    sta $700,x
    inx
    bne clear
    lda #$A5
    sta $2F0
    lda #$5A
    sta $2F1
    ldx #$80
    txs
    cli
    lda #$40
    sta $4017     ; no interrupt from the frame counter
idle:
    inc $304
    jmp idle
warm:
    inc $300
    lda $11
    sta $301
    lda $12
    sta $302
again:
    inc $303
    bit $2002
    bpl again
    inc $310
    jmp again
""",
    8,
    {0x300: b"\x01\x7d"},
    resets=(5,),
)

# Where BRK's own handler did not run, the loop waits as long as it would have taken: 11 cycles, and 7 for the NMI.
BRK_AND_NMI = Program(
    "brk_and_nmi",
    "NMI arrives around a BRK at every alignment: which vector is taken, what is pushed, where it returns to.",
    drift(
        start_cycle(-70),
        """
    .spent 51
    nop
    nop
    nop
    nop
    nop
    brk
    .byte 0
    nop
    nop
    nop
    nop
    .rest 200
    lda $12
    bne ran
    .delay 19
ran:
    ldx $11
    sta $380,x
    inc $11
    lda #0
    sta $12
""",
        0,
        nmi=True,
    )
    + """
irq:
    inc $12
    rti
nmi:
    sta $20
    stx $21
    tsx
    lda $102,x
    ldx $10
    sta $300,x
    tsx
    lda $101,x
    ldx $10
    sta $340,x
    inc $10
    lda $20
    ldx $21
    rti
""",
    SWEEP,
)

PROGRAMS = [FLAGS, STACK, SELF_MODIFIED, JAM, RESET, BRK_AND_NMI]
