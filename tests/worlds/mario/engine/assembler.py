"""A small two-pass 6502 assembler for the test programs: text in, bytes out.

One statement a line, `;` begins a comment, `name:` defines a label (more than one may stand on a line's front), and
`name = expression` a constant. Numbers: `123`, `$7B`, `%01111011`, `'A'`; expressions add and subtract names and
numbers; `<` takes the low byte of what follows, `>` the high byte; `*` is the address of the statement.

Directives:
  .org ADDRESS      go on at this address (forwards only; the gap is zeros)
  .byte E, E, ...   bytes
  .word E, E, ...   little-endian words
  .fill N, E        N times the byte E
  .page             go on at the next page unless at one now
  .delay N          code that takes exactly N cycles (N = 0 or N >= 2; X, Y and the flags are lost from 30 cycles on)
  .mark             begin to count cycles: of each instruction in the order written, branches as not taken
  .spent N          N more cycles were spent since the mark than the text shows (a loop, a DMA)
  .rest N           a delay such that N cycles have passed since the mark

A name known when the statement is first met and below $100 is addressed as zero page; `abs` before the operand forces
the long form (`lda abs $10`). Unofficial instructions carry their usual names; one that shares its name with an
official one, or has several codes, is chosen by its code: `op $EB, E` writes a raw opcode with up to two operand bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cycles import BASE

# The modes a mnemonic has, and their codes. imp: none or A; rel: branch; the others as written in an operand.
OPCODES: dict[str, dict[str, int]] = {}


def _define(text: str) -> None:
    for line in text.strip().splitlines():
        name, *cells = line.split()
        OPCODES[name] = {mode: int(code, 16) for mode, code in (cell.split(":") for cell in cells)}


_define("""
adc imm:69 zp:65 zpx:75 abs:6D abx:7D aby:79 izx:61 izy:71
and imm:29 zp:25 zpx:35 abs:2D abx:3D aby:39 izx:21 izy:31
asl imp:0A zp:06 zpx:16 abs:0E abx:1E
bcc rel:90
bcs rel:B0
beq rel:F0
bit zp:24 abs:2C
bmi rel:30
bne rel:D0
bpl rel:10
brk imp:00 imm:00
bvc rel:50
bvs rel:70
clc imp:18
cld imp:D8
cli imp:58
clv imp:B8
cmp imm:C9 zp:C5 zpx:D5 abs:CD abx:DD aby:D9 izx:C1 izy:D1
cpx imm:E0 zp:E4 abs:EC
cpy imm:C0 zp:C4 abs:CC
dec zp:C6 zpx:D6 abs:CE abx:DE
dex imp:CA
dey imp:88
eor imm:49 zp:45 zpx:55 abs:4D abx:5D aby:59 izx:41 izy:51
inc zp:E6 zpx:F6 abs:EE abx:FE
inx imp:E8
iny imp:C8
jmp abs:4C ind:6C
jsr abs:20
lda imm:A9 zp:A5 zpx:B5 abs:AD abx:BD aby:B9 izx:A1 izy:B1
ldx imm:A2 zp:A6 zpy:B6 abs:AE aby:BE
ldy imm:A0 zp:A4 zpx:B4 abs:AC abx:BC
lsr imp:4A zp:46 zpx:56 abs:4E abx:5E
nop imp:EA imm:80 zp:04 zpx:14 abs:0C abx:1C
ora imm:09 zp:05 zpx:15 abs:0D abx:1D aby:19 izx:01 izy:11
pha imp:48
php imp:08
pla imp:68
plp imp:28
rol imp:2A zp:26 zpx:36 abs:2E abx:3E
ror imp:6A zp:66 zpx:76 abs:6E abx:7E
rti imp:40
rts imp:60
sbc imm:E9 zp:E5 zpx:F5 abs:ED abx:FD aby:F9 izx:E1 izy:F1
sec imp:38
sed imp:F8
sei imp:78
sta zp:85 zpx:95 abs:8D abx:9D aby:99 izx:81 izy:91
stx zp:86 zpy:96 abs:8E
sty zp:84 zpx:94 abs:8C
tax imp:AA
tay imp:A8
tsx imp:BA
txa imp:8A
txs imp:9A
tya imp:98
slo zp:07 zpx:17 abs:0F abx:1F aby:1B izx:03 izy:13
rla zp:27 zpx:37 abs:2F abx:3F aby:3B izx:23 izy:33
sre zp:47 zpx:57 abs:4F abx:5F aby:5B izx:43 izy:53
rra zp:67 zpx:77 abs:6F abx:7F aby:7B izx:63 izy:73
sax zp:87 zpy:97 abs:8F izx:83
lax zp:A7 zpy:B7 abs:AF aby:BF izx:A3 izy:B3
dcp zp:C7 zpx:D7 abs:CF abx:DF aby:DB izx:C3 izy:D3
isc zp:E7 zpx:F7 abs:EF abx:FF aby:FB izx:E3 izy:F3
anc imm:0B
alr imm:4B
arr imm:6B
axs imm:CB
jam imp:02
""")

_LONG = {"zp": "abs", "zpx": "abx", "zpy": "aby"}
_SIZES = {"imp": 1, "abs": 3, "abx": 3, "aby": 3, "ind": 3}
_SHAPES = (
    (re.compile(r"#(.+)"), "imm"),
    (re.compile(r"\((.+),\s*x\)", re.IGNORECASE), "izx"),
    (re.compile(r"\((.+)\)\s*,\s*y", re.IGNORECASE), "izy"),
    (re.compile(r"\((.+)\)"), "ind"),
    (re.compile(r"(.+?)\s*,\s*x", re.IGNORECASE), "zpx"),
    (re.compile(r"(.+?)\s*,\s*y", re.IGNORECASE), "zpy"),
    (re.compile(r"(.+)"), "zp"),
)
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*:\s*(.*)")
_CONSTANT = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.+)")
_TERM = re.compile(r"\s*([+-]?)\s*(\$[0-9A-Fa-f]+|%[01]+|'.'|\d+|[A-Za-z_]\w*|\*)")


class AssemblyError(ValueError):
    """A line that cannot be assembled, with its number."""


@dataclass(frozen=True)
class Assembled:
    """Bytes, the address of the first, and every label."""

    origin: int
    code: bytes
    labels: dict[str, int]


def delay_code(cycles: int, address: int) -> bytes:
    """Code at `address` that takes exactly so many cycles: a nested loop that crosses no page, filled up with NOPs."""
    if cycles == 1 or cycles < 0:
        raise AssemblyError(f"a delay is 0 or at least 2 cycles, not {cycles}")
    code = bytearray()
    while cycles >= 30:
        if (address + len(code)) % 256 > 256 - 11:  # the loop and the byte after it share one page
            code += b"\xea"
            cycles -= 2
            continue
        # ldy #rounds; ldx #first; loop: dex; bne loop; dey; bne loop
        rounds = min(255, 1 + max(0, (cycles - 2 - 12) // 1284))
        first = min(255, (cycles - 2 - (4 - 1 - 1 + 5 * rounds + 1279 * (rounds - 1))) // 5)
        code += bytes((0xA0, rounds, 0xA2, first, 0xCA, 0xD0, 0xFD, 0x88, 0xD0, 0xFA))
        cycles -= 4 + (5 * first - 1) + 1279 * (rounds - 1) + 5 * rounds - 1
    if cycles % 2:
        code += b"\x24\x00"  # bit $00
        cycles -= 3
    return bytes(code + b"\xea" * (cycles // 2))


class _Assembly:
    def __init__(self, source: str, origin: int) -> None:
        self.source = source
        self.origin = origin
        self.labels: dict[str, int] = {}
        self.cycles = 0
        self.short: dict[int, bool] = {}  # statement -> addressed as zero page, decided in the first pass

    def value(self, text: str, address: int, strict: bool) -> int | None:
        """The expression's value; None for a name not met yet, in the first pass only."""
        text = text.strip()
        if text[:1] in ("<", ">"):
            inner = self.value(text[1:], address, strict)
            return None if inner is None else (inner & 0xFF if text[0] == "<" else inner >> 8 & 0xFF)
        total, at = 0, 0
        while at < len(text):
            match = _TERM.match(text, at)
            if match is None or (at > 0 and not match[1]):
                raise AssemblyError(f"cannot read the expression {text!r}")
            sign, term = match.groups()
            number = self._term(term, address)
            if number is None:
                if strict:
                    raise AssemblyError(f"{term!r} is not defined")
                return None
            total += -number if sign == "-" else number
            at = match.end()
        if not text:
            raise AssemblyError("an expression is missing")
        return total

    def _term(self, term: str, address: int) -> int | None:
        if term == "*":
            return address
        if term[0] == "$":
            return int(term[1:], 16)
        if term[0] == "%":
            return int(term[1:], 2)
        if term[0] == "'":
            return ord(term[1])
        return int(term) if term.isdigit() else self.labels.get(term)

    def known(self, text: str, address: int) -> int:
        value = self.value(text, address, strict=True)
        assert value is not None
        return value

    def run(self, final: bool) -> bytes:
        code = bytearray()
        self.cycles = 0
        for number, line in enumerate(self.source.splitlines(), 1):
            try:
                for statement in self._statements(line, self.origin + len(code), final):
                    code += self._emit(number, statement, self.origin + len(code), final)
            except AssemblyError as error:
                raise AssemblyError(f"line {number} ({line.strip()}): {error}") from None
        return bytes(code)

    def _statements(self, line: str, address: int, final: bool) -> Iterator[str]:
        text = re.sub(r";.*", "", line).strip()
        while match := _LABEL.fullmatch(text):
            if not final and match[1] in self.labels:
                raise AssemblyError(f"{match[1]!r} is defined twice")
            if final and self.labels[match[1]] != address:
                raise AssemblyError(f"{match[1]!r} moved between the passes")
            self.labels[match[1]] = address
            text = match[2].strip()
        if match := _CONSTANT.fullmatch(text):
            self.labels[match[1]] = self.known(match[2], address)
        elif text:
            yield text

    def _emit(self, number: int, statement: str, address: int, final: bool) -> bytes:
        head, _, rest = statement.partition(" ")
        head, rest = head.lower(), rest.strip()
        if head.startswith("."):
            return self._directive(head, rest, address, final)
        if head == "op":
            first, *operands = rest.split(",")
            code = bytes((self.known(first, address), *(self._byte(text, address, final) for text in operands)))
        else:
            code = self._instruction(number, head, rest, address, final)
        self.cycles += BASE[code[0]]
        return code

    def _byte(self, text: str, address: int, final: bool) -> int:
        value = self.value(text, address, strict=final) or 0
        if not -128 <= value <= 255:
            raise AssemblyError(f"{value:#x} does not fit a byte")
        return value & 0xFF

    def _directive(self, head: str, rest: str, address: int, final: bool) -> bytes:
        if head == ".org":
            gap = self.known(rest, address) - address
            if gap < 0:
                raise AssemblyError(f"the code already reached {address:#06x}")
            return bytes(gap)
        if head == ".byte":
            return bytes(self._byte(text, address, final) for text in rest.split(","))
        if head == ".word":
            values = [self.value(text, address, strict=final) or 0 for text in rest.split(",")]
            return b"".join(int.to_bytes(value & 0xFFFF, 2, "little") for value in values)
        if head == ".fill":
            count, byte = rest.split(",")
            return bytes([self._byte(byte, address, final)]) * self.known(count, address)
        if head == ".page":
            return bytes(-address % 256)
        if head in (".delay", ".rest"):
            cycles = self.known(rest, address) - (self.cycles if head == ".rest" else 0)
            self.cycles += cycles
            return delay_code(cycles, address)
        if head in (".mark", ".spent"):
            self.cycles = 0 if head == ".mark" else self.cycles + self.known(rest, address)
            return b""
        raise AssemblyError(f"there is no directive {head}")

    def _instruction(self, number: int, head: str, rest: str, address: int, final: bool) -> bytes:
        modes = OPCODES.get(head)
        if modes is None:
            raise AssemblyError(f"there is no instruction {head!r}")
        if rest.lower() in ("", "a") and "imp" in modes:
            return bytes([modes["imp"]])
        if "rel" in modes:
            offset = (self.value(rest, address, strict=final) or address) - address - 2
            if final and not -128 <= offset <= 127:
                raise AssemblyError(f"the branch is {offset} bytes long")
            return bytes((modes["rel"], offset & 0xFF))
        mode, operand = self._mode(number, modes, rest, address, final)
        value = self.value(operand, address, strict=final) or 0
        if _SIZES.get(mode, 2) == 3:
            return bytes((modes[mode], value & 0xFF, value >> 8 & 0xFF))
        return bytes((modes[mode], self._byte(operand, address, final)))

    def _mode(self, number: int, modes: dict[str, int], rest: str, address: int, final: bool) -> tuple[str, str]:
        long, rest = rest.lower().startswith("abs "), re.sub(r"^abs ", "", rest, flags=re.IGNORECASE)
        if not rest:
            raise AssemblyError("the operand is missing")
        mode, operand = next((mode, match[1]) for shape, mode in _SHAPES if (match := shape.fullmatch(rest)))
        if mode in _LONG:
            value = self.value(operand, address, strict=final)
            if not final:
                self.short[number] = not long and value is not None and 0 <= value < 256
            if not (self.short[number] and mode in modes) or _LONG[mode] not in modes:
                mode = _LONG[mode] if _LONG[mode] in modes else mode
        if mode not in modes:
            raise AssemblyError(f"this instruction has no such operand: {rest}")
        return mode, operand


def assemble(source: str, origin: int = 0x8000) -> Assembled:
    """Assembles the text from the given address on."""
    assembly = _Assembly(source, origin)
    assembly.run(final=False)
    return Assembled(origin, assembly.run(final=True), dict(assembly.labels))
