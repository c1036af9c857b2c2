"""Little test programs: each pins down one behaviour of the console and leaves what it saw in RAM.

Every program runs unchanged on the engine and on cynes, and both must agree on RAM after each frame (and on the
picture, where the program draws). Where a behaviour is documented, `facts` also states the values themselves.
"""

from dataclasses import dataclass, field

from ines import cartridge


@dataclass(frozen=True, eq=False)
class Program:
    """One program, how to run it, and what is known about its outcome."""

    name: str
    says: str
    source: str
    frames: int
    facts: dict[int, bytes] = field(default_factory=dict)  # address -> bytes there after the last frame
    buttons: tuple[tuple[int, int], ...] = ((0, 0),)  # (pad 1, pad 2) frame by frame, repeated
    drawn_from: int = 0  # pictures are compared from this frame on; 0: never
    compared_from: int = 2  # RAM is compared from this frame on (before, cynes shows what it had at power-on)
    vertical: bool = False
    chr_rom: bytes | None = None
    resets: tuple[int, ...] = ()  # the reset button is pressed before these frames
    not_on_cynes: str = ""  # why cynes is no witness for this program (facts then rest on the documentation)
    ignored: tuple[tuple[int, int], ...] = ()  # RAM ranges (from, to) that cynes is no witness for

    def ines(self) -> bytes:
        return cartridge(self.source, chr_rom=self.chr_rom, vertical=self.vertical)

    def pads(self, frame: int) -> tuple[int, int]:
        return self.buttons[frame % len(self.buttons)]


# Cycles are counted from the first instruction of `reset`, so after this text `.rest N` means "N cycles after reset".
# The loop lies within one page. Clears RAM, sets the stack to $FF, keeps NMI and drawing off; leaves A = 0.
PROLOGUE = """
reset:
    .mark
    sei
    cld
    ldx #$FF
    txs
    lda #0
    sta $2000
    sta $2001
    tax
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
    .spent 11220
"""
