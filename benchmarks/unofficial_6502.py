"""The unofficial 6502 instructions, from their documented definitions: what engine_fuzz.py needs and py65 lacks."""

from collections.abc import Callable, Iterator
from typing import Any

Rule = Callable[["Model"], int]


class Recorded(bytearray):
    """Memory that remembers which addresses were written."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.written: list[int] = []

    def __setitem__(self, address: Any, value: Any) -> None:
        self.written.append(address)
        super().__setitem__(address, value)

    def refill(self, content: bytes) -> None:
        """Replaces everything, unrecorded."""
        super().__setitem__(slice(0, len(content)), content)


class Model:
    """The unofficial instructions: each is an official pair at once, on py65's registers and memory."""

    def __init__(self, mpu: Any) -> None:
        self.mpu = mpu
        self.memory: Recorded = mpu.memory
        self.late = 0  # 1: indexing crossed a page
        self.rules: dict[int, Rule] = dict(_unofficial_rules())

    def step(self, code: int) -> int:
        """Runs the instruction whose code has been fetched; answers its cycles."""
        return self.rules[code](self)

    # -- operands

    def fetch(self) -> int:
        """The next byte of the program."""
        byte = self.memory[self.mpu.pc]
        self.mpu.pc = self.mpu.pc + 1 & 0xFFFF
        return byte

    def word(self, low_at: int, high_at: int) -> int:
        """Sixteen bits from two places."""
        return self.memory[low_at] | self.memory[high_at] << 8

    def indexed(self, base: int, index: int) -> int:
        """Base plus index, noting whether a page was crossed."""
        address = base + index & 0xFFFF
        self.late = int((address ^ base) & 0xFF00 != 0)
        return address

    def address(self, mode: str) -> int:
        """Where the operand lies."""
        if mode == "izx":
            pointer = self.fetch() + self.mpu.x
            return self.word(pointer & 0xFF, pointer + 1 & 0xFF)
        if mode == "izy":
            pointer = self.fetch()
            return self.indexed(self.word(pointer, pointer + 1 & 0xFF), self.mpu.y)
        if mode in ("zp", "zpx", "zpy"):
            return self.fetch() + {"zp": 0, "zpx": self.mpu.x, "zpy": self.mpu.y}[mode] & 0xFF
        low = self.fetch()
        return self.indexed(low | self.fetch() << 8, {"abs": 0, "abx": self.mpu.x, "aby": self.mpu.y}[mode])

    # -- flags and sums

    def set_flags(self, mask: int, bits: int) -> None:
        """Replaces the masked flags."""
        self.mpu.p = self.mpu.p & ~mask | bits

    def set_nz(self, value: int) -> None:
        """N and Z of a result."""
        self.set_flags(0x82, value & 0x80 | (0 if value else 2))

    def carry(self) -> int:
        """The carry flag."""
        return int(self.mpu.p) & 1

    def add(self, value: int) -> None:
        """ADC without decimal mode."""
        total = self.mpu.a + value + self.carry()
        overflow = ~(self.mpu.a ^ value) & (self.mpu.a ^ total) & 0x80
        self.set_flags(0x41, overflow >> 1 | total >> 8)
        self.mpu.a = total & 0xFF
        self.set_nz(self.mpu.a)

    def compare(self, left: int, right: int) -> None:
        """CMP."""
        self.set_flags(1, int(left >= right))
        self.set_nz(left - right & 0xFF)


def _slo(model: Model, value: int) -> int:
    model.set_flags(1, value >> 7)
    value = value << 1 & 0xFF
    model.mpu.a |= value
    model.set_nz(model.mpu.a)
    return value


def _rla(model: Model, value: int) -> int:
    shifted = value << 1 & 0xFF | model.carry()
    model.set_flags(1, value >> 7)
    model.mpu.a &= shifted
    model.set_nz(model.mpu.a)
    return shifted


def _sre(model: Model, value: int) -> int:
    model.set_flags(1, value & 1)
    model.mpu.a ^= value >> 1
    model.set_nz(model.mpu.a)
    return value >> 1


def _rra(model: Model, value: int) -> int:
    shifted = value >> 1 | model.carry() << 7
    model.set_flags(1, value & 1)
    model.add(shifted)
    return shifted


def _dcp(model: Model, value: int) -> int:
    value = value - 1 & 0xFF
    model.compare(model.mpu.a, value)
    return value


def _isc(model: Model, value: int) -> int:
    value = value + 1 & 0xFF
    model.add(value ^ 0xFF)
    return value


def _modify(change: Callable[[Model, int], int], mode: str) -> Rule:
    cycles = {"zp": 5, "zpx": 6, "abs": 6, "abx": 7, "aby": 7, "izx": 8, "izy": 8}[mode]

    def rule(model: Model) -> int:
        address = model.address(mode)
        model.memory[address] = change(model, model.memory[address])
        return cycles

    return rule


def _read(use: Callable[[Model, int], None], mode: str) -> Rule:
    cycles = {"zp": 3, "zpx": 4, "zpy": 4, "abs": 4, "abx": 4, "aby": 4, "izx": 6, "izy": 5}[mode]

    def rule(model: Model) -> int:
        model.late = 0
        use(model, model.memory[model.address(mode)])
        return cycles + (model.late if mode in ("abx", "aby", "izy") else 0)

    return rule


def _sax(mode: str) -> Rule:
    def rule(model: Model) -> int:
        model.memory[model.address(mode)] = model.mpu.a & model.mpu.x
        return {"zp": 3, "zpy": 4, "abs": 4, "izx": 6}[mode]

    return rule


def _lax(model: Model, value: int) -> None:
    model.mpu.a = model.mpu.x = value
    model.set_nz(value)


def _las(model: Model, value: int) -> None:
    model.mpu.a = model.mpu.x = model.mpu.sp = value & model.mpu.sp
    model.set_nz(model.mpu.a)


def _nothing(model: Model, value: int) -> None:
    pass


def _immediate(use: Callable[[Model, int], None]) -> Rule:
    def rule(model: Model) -> int:
        use(model, model.fetch())
        return 2

    return rule


def _anc(model: Model, value: int) -> None:
    model.mpu.a &= value
    model.set_nz(model.mpu.a)
    model.set_flags(1, model.mpu.a >> 7)


def _alr(model: Model, value: int) -> None:
    value &= model.mpu.a
    model.set_flags(1, value & 1)
    model.mpu.a = value >> 1
    model.set_nz(model.mpu.a)


def _arr(model: Model, value: int) -> None:
    model.mpu.a = (model.mpu.a & value) >> 1 | model.carry() << 7
    model.set_nz(model.mpu.a)
    sixth, fifth = model.mpu.a >> 6 & 1, model.mpu.a >> 5 & 1
    model.set_flags(0x41, sixth | (sixth ^ fifth) << 6)


def _axs(model: Model, value: int) -> None:
    both = model.mpu.a & model.mpu.x
    model.compare(both, value)
    model.mpu.x = both - value & 0xFF


def _sbc(model: Model, value: int) -> None:
    model.add(value ^ 0xFF)


def _single(model: Model) -> int:
    return 2


def _unofficial_rules() -> Iterator[tuple[int, Rule]]:
    modes = {0x03: "izx", 0x07: "zp", 0x0F: "abs", 0x13: "izy", 0x17: "zpx", 0x1B: "aby", 0x1F: "abx"}
    for base, change in ((0x00, _slo), (0x20, _rla), (0x40, _sre), (0x60, _rra), (0xC0, _dcp), (0xE0, _isc)):
        for low, mode in modes.items():
            yield base | low, _modify(change, mode)
    for code, mode in ((0x83, "izx"), (0x87, "zp"), (0x8F, "abs"), (0x97, "zpy")):
        yield code, _sax(mode)
    for code, mode in ((0xA3, "izx"), (0xA7, "zp"), (0xAF, "abs"), (0xB3, "izy"), (0xB7, "zpy"), (0xBF, "aby")):
        yield code, _read(_lax, mode)
    yield 0xBB, _read(_las, "aby")
    for code, use in ((0x0B, _anc), (0x2B, _anc), (0x4B, _alr), (0x6B, _arr), (0xCB, _axs), (0xEB, _sbc)):
        yield code, _immediate(use)
    yield from _nops()


def _nops() -> Iterator[tuple[int, Rule]]:
    for code in (0x80, 0x82, 0x89, 0xC2, 0xE2):
        yield code, _immediate(_nothing)
    for code in (0x1A, 0x3A, 0x5A, 0x7A, 0xDA, 0xFA):
        yield code, _single
    for mode, codes in (
        ("zp", (0x04, 0x44, 0x64)),
        ("zpx", (0x14, 0x34, 0x54, 0x74, 0xD4, 0xF4)),
        ("abs", (0x0C,)),
        ("abx", (0x1C, 0x3C, 0x5C, 0x7C, 0xDC, 0xFC)),
    ):
        for code in codes:
            yield code, _read(_nothing, mode)
