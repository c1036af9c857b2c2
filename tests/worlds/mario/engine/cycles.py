"""The documented 6502 cycle table, typed by hand: the reference for the engine's own table, not a copy of it.

`BASE[code]` is the number of cycles without extras. A `+` in the table means one more when indexing crosses a page.
Branches (`b`) take 2, one more when taken, and another when the target lies in another page than the next instruction.
`JAM` codes (`*`) never end. Unofficial codes are included.
"""

#     x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 xA xB xC xD xE xF
_TABLE = """
0x    7  6  *  8  3  3  5  5  3  2  2  2  4  4  6  6
1x    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
2x    6  6  *  8  3  3  5  5  4  2  2  2  4  4  6  6
3x    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
4x    6  6  *  8  3  3  5  5  3  2  2  2  3  4  6  6
5x    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
6x    6  6  *  8  3  3  5  5  4  2  2  2  5  4  6  6
7x    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
8x    2  6  2  6  3  3  3  3  2  2  2  2  4  4  4  4
9x    b  6  *  6  4  4  4  4  2  5  2  5  5  5  5  5
Ax    2  6  2  6  3  3  3  3  2  2  2  2  4  4  4  4
Bx    b  5+ *  5+ 4  4  4  4  2  4+ 2  4+ 4+ 4+ 4+ 4+
Cx    2  6  2  8  3  3  5  5  2  2  2  2  4  4  6  6
Dx    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
Ex    2  6  2  8  3  3  5  5  2  2  2  2  4  4  6  6
Fx    b  5+ *  8  4  4  6  6  2  4+ 2  7  4+ 4+ 7  7
"""

_CELLS = [cell for line in _TABLE.strip().splitlines() for cell in line.split()[1:]]

JAMS = frozenset(code for code, cell in enumerate(_CELLS) if cell == "*")
BRANCHES = frozenset(code for code, cell in enumerate(_CELLS) if cell == "b")
PAGE_PENALTY = frozenset(code for code, cell in enumerate(_CELLS) if cell.endswith("+"))
BASE = [2 if cell in "b*" else int(cell.rstrip("+")) for cell in _CELLS]

# Results that depend on the chip's temperature or on what is on the bus; nothing is promised about them.
UNSTABLE = frozenset((0x8B, 0x93, 0x9B, 0x9C, 0x9E, 0x9F, 0xAB))
