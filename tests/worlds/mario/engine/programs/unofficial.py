"""The codes nobody documented."""

from programs import PROLOGUE, Program


def _unofficial() -> str:
    """Each stable unofficial code once per addressing mode, with its registers, flags and memory kept."""
    keep = """
    php
    sta $20
    stx $21
    sty $22
    pla
    ldy $10
    sta $300,y
    lda $20
    sta $400,y
    lda $21
    sta $500,y
    lda $80
    sta $600,y
    lda $85
    sta $700,y
    inc $10
"""
    setup = """
    lda #$80
    sta $30
    sta $36
    lda #$00
    sta $31
    sta $37
    lda #{memory}
    sta $80
    eor #$FF
    sta $85
    lda #{x_and}
    cmp #{compare}
    ldx #5
    ldy #5
    lda #{a}
"""
    lines = []
    names = ("slo", "rla", "sre", "rra", "dcp", "isc", "sax", "lax")
    for number, name in enumerate(names):
        modes = ["$80", "$0080"] + (
            ["$7B,y", "($2B,x)"]
            if name in ("sax", "lax")
            else ["$7B,x", "abs $7B,x", "abs $7B,y", "($2B,x)", "($30),y"]
        )
        if name == "lax":
            modes += ["abs $7B,y", "($30),y"]
        for i, mode in enumerate(modes):
            mode = mode.replace("$0080", "abs $80")
            values = {
                "memory": (number * 57 + i * 91 + 0x4B) & 0xFF,
                "x_and": (i * 33 + number) & 0xFF,
                "compare": (number * 77) & 0xFF,
                "a": (number * 29 + i * 67 + 0x93) & 0xFF,
            }
            lines.append(setup.format(**values) + f"    {name} {mode}\n" + keep)
    for number, name in enumerate(("anc", "alr", "arr", "axs", "arr", "arr")):
        values = {"memory": number, "x_and": number * 45, "compare": number * 40, "a": (0xC5 + number * 50) & 0xFF}
        lines.append(setup.format(**values) + f"    {name} #{(0x6D + number * 83) & 0xFF}\n" + keep)
    for code in (
        "$1A",
        "$3A",
        "$5A",
        "$7A",
        "$DA",
        "$FA",
        "$80, 1",
        "$82, 2",
        "$89, 3",
        "$C2, 4",
        "$E2, 5",
        "$04, 6",
        "$14, 7",
        "$34, 7",
        "$0C, 8, 2",
        "$1C, 9, 2",
        "$FC, 9, 2",
        "$EB, $35",
        "$2B, $9C",
    ):
        values = {"memory": 1, "x_and": 3, "compare": 2, "a": 0x71}
        lines.append(setup.format(**values) + f"    op {code}\n" + keep)
    return "".join(lines)


UNOFFICIAL = Program(
    "unofficial",
    "The stable unofficial codes in each addressing mode: registers, flags and memory.",
    f"{PROLOGUE}\n{_unofficial()}\nend:\n    jmp end\n",
    3,
)

PROGRAMS = [UNOFFICIAL]
