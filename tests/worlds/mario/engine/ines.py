"""Test cartridges: a program in 6502 text becomes an iNES image with one 16 or 32 KiB bank (mapper 0)."""

from assembler import assemble


def pattern_chr() -> bytes:
    """8 KiB of tiles simple enough to reason about; both halves hold the same 256.

    0 empty; 1 full, colour 3; 2 the top left pixel; 3 the bottom right pixel; 4 the left column; 5 the top row;
    6 a diagonal; 7 colours 0 1 2 3 in pairs of columns; 8 full, colour 1; 9 full, colour 2; the others: a pattern
    different for each number and each row.
    """
    tiles = {
        0: [(0, 0)] * 8,
        1: [(0xFF, 0xFF)] * 8,
        2: [(0x80, 0x80)] + [(0, 0)] * 7,
        3: [(0, 0)] * 7 + [(0x01, 0x01)],
        4: [(0x80, 0x80)] * 8,
        5: [(0xFF, 0xFF)] + [(0, 0)] * 7,
        6: [(0x80 >> row, 0x80 >> row) for row in range(8)],
        7: [(0b00110011, 0b00001111)] * 8,
        8: [(0xFF, 0)] * 8,
        9: [(0, 0xFF)] * 8,
    }
    half = bytearray()
    for number in range(256):
        rows = tiles.get(number) or [
            ((number * 37 + row * 11) & 0xFF, (number * 101 ^ row * 29) & 0xFF) for row in range(8)
        ]
        half += bytes(low for low, _ in rows) + bytes(high for _, high in rows)
    return bytes(half) * 2


def ines_image(prg: bytes, chr_rom: bytes | None = None, vertical: bool = False) -> bytes:
    """An iNES image of a 16 or 32 KiB program and 8 KiB of tiles."""
    if len(prg) not in (0x4000, 0x8000):
        raise ValueError(f"a program is 16 or 32 KiB, not {len(prg)} bytes")
    tiles = pattern_chr() if chr_rom is None else chr_rom
    header = b"NES\x1a" + bytes((len(prg) // 0x4000, len(tiles) // 0x2000, int(vertical))) + bytes(9)
    return header + prg + tiles


def cartridge(source: str, chr_rom: bytes | None = None, vertical: bool = False, kib: int = 32) -> bytes:
    """Assembles a program to the end of the address space. It must define `reset`; `nmi` and `irq` default to RTI."""
    origin = 0x10000 - kib * 1024
    text = source
    for name in ("nmi", "irq"):
        if f"\n{name}:" not in "\n" + "\n".join(line.strip() for line in source.splitlines()):
            text += f"\n{name}: rti\n"
    built = assemble(text + "\n.org $FFFA\n.word nmi, reset, irq\n", origin)
    return ines_image(built.code, chr_rom, vertical)
