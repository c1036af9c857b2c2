"""Does every instruction do to registers, flags, memory and time what py65 says, in millions of random cases?

Official codes are compared with py65. It knows no unofficial ones: for those a small model stands here, written from
their documented definitions. Left out are the codes that jam the processor and those whose result no one can promise.
Without decimal mode ADC and SBC ignore D, which py65 does not: it is kept clear for them.

Cases come in batches that are reproducible one by one: when one differs, the command to repeat it is printed.
"""

import argparse
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

CASES_PER_BATCH = 1000

JAMS = frozenset(range(0x02, 0x80, 0x10)) | frozenset((0x92, 0xB2, 0xD2, 0xF2))
UNSTABLE = frozenset((0x8B, 0x93, 0x9B, 0x9C, 0x9E, 0x9F, 0xAB))
ADC_AND_SBC = frozenset(high | low for high in (0x60, 0xE0) for low in (0x01, 0x05, 0x09, 0x0D, 0x11, 0x15, 0x19, 0x1D))
LEFT_OUT = JAMS | UNSTABLE
CODES = tuple(code for code in range(256) if code not in LEFT_OUT)
FLAGS = 0xCF  # bits 4 and 5 do not exist in the register
PY65_OWES = {0xCE: 3}  # its table says 3 cycles for DEC absolute; the documented number is 6
Rule = Callable[["Model"], int]


class Cpu(Protocol):
    """What is asked of the processor under test (`respawn.worlds.mario._engine.FlatCpu`)."""

    memory: NDArray[np.uint8]

    def step(self) -> int: ...
    def registers(self) -> dict[str, int]: ...
    def set_registers(self, **values: int) -> None: ...


class Recorded(bytearray):
    """Memory that remembers which addresses were written."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.written: list[int] = []

    def __setitem__(self, address: Any, value: Any) -> None:
        self.written.append(address)
        super().__setitem__(address, value)

    def refill(self, content: bytes) -> None:
        super().__setitem__(slice(0, len(content)), content)


class Model:
    """The unofficial instructions: each is an official pair at once, on py65's registers and memory."""

    def __init__(self, mpu: Any) -> None:
        self.mpu = mpu
        self.memory: Recorded = mpu.memory
        self.late = 0  # 1: indexing crossed a page
        self.rules: dict[int, Rule] = dict(_unofficial_rules())

    def step(self, code: int) -> int:
        return self.rules[code](self)

    # -- operands

    def fetch(self) -> int:
        byte = self.memory[self.mpu.pc]
        self.mpu.pc = self.mpu.pc + 1 & 0xFFFF
        return byte

    def word(self, low_at: int, high_at: int) -> int:
        return self.memory[low_at] | self.memory[high_at] << 8

    def indexed(self, base: int, index: int) -> int:
        address = base + index & 0xFFFF
        self.late = int((address ^ base) & 0xFF00 != 0)
        return address

    def address(self, mode: str) -> int:
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
        self.mpu.p = self.mpu.p & ~mask | bits

    def set_nz(self, value: int) -> None:
        self.set_flags(0x82, value & 0x80 | (0 if value else 2))

    def carry(self) -> int:
        return int(self.mpu.p) & 1

    def add(self, value: int) -> None:
        total = self.mpu.a + value + self.carry()
        overflow = ~(self.mpu.a ^ value) & (self.mpu.a ^ total) & 0x80
        self.set_flags(0x41, overflow >> 1 | total >> 8)
        self.mpu.a = total & 0xFF
        self.set_nz(self.mpu.a)

    def compare(self, left: int, right: int) -> None:
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
    for code in (0x80, 0x82, 0x89, 0xC2, 0xE2):
        yield code, _immediate(_nothing)
    for code in (0x1A, 0x3A, 0x5A, 0x7A, 0xDA, 0xFA):
        yield code, _single
    for code in (0x04, 0x44, 0x64):
        yield code, _read(_nothing, "zp")
    for code in (0x14, 0x34, 0x54, 0x74, 0xD4, 0xF4):
        yield code, _read(_nothing, "zpx")
    yield 0x0C, _read(_nothing, "abs")
    for code in (0x1C, 0x3C, 0x5C, 0x7C, 0xDC, 0xFC):
        yield code, _read(_nothing, "abx")


@dataclass(frozen=True)
class Difference:
    """One case in which the two disagree, and what is needed to see it again."""

    seed: int
    batch: int
    case: int
    code: bytes
    before: dict[str, int]
    expected: dict[str, int]
    got: dict[str, int]

    def __str__(self) -> str:
        def line(values: dict[str, int]) -> str:
            return " ".join(f"{name}={value:02X}" for name, value in values.items())

        wrong = [name for name in self.expected if self.expected[name] != self.got[name]]
        return (
            f"case {self.case} of batch {self.batch}: {self.code.hex(' ')} differs in {', '.join(wrong)}\n"
            f"  before   {line(self.before)}\n  expected {line(self.expected)}\n  got      {line(self.got)}\n"
            f"  repeat: python benchmarks/engine_fuzz.py --seed {self.seed} --batch {self.batch}"
        )


class Fuzzer:
    """Two processors side by side: the one under test, and py65 with the model for what it lacks."""

    def __init__(self, cpu: Cpu) -> None:
        from py65.devices.mpu6502 import MPU

        self.cpu = cpu
        self.ours = memoryview(cpu.memory)
        self.memory = Recorded(0x10000)
        self.mpu = MPU(memory=self.memory, pc=0)
        self.model = Model(self.mpu)

    def batch(self, seed: int, batch: int) -> Difference | None:
        """One batch: fresh random memory, every code in turn with random registers and operands."""
        chance = random.Random(f"{seed}/{batch}")
        content = chance.randbytes(0x10000)
        self.memory.refill(content)
        self.ours[:] = content
        for case in range(CASES_PER_BATCH):
            code = CODES[(batch * CASES_PER_BATCH + case) % len(CODES)]
            difference = self._case(seed, batch, case, code, chance.getrandbits(64))
            if difference is not None:
                return difference
        if bytes(self.ours) == bytes(self.memory):
            return None
        where = int(np.flatnonzero(np.frombuffer(self.ours, np.uint8) != np.frombuffer(self.memory, np.uint8))[0])
        both = ({f"memory {where:04X}": self.memory[where]}, {f"memory {where:04X}": self.ours[where]})
        return Difference(seed, batch, CASES_PER_BATCH, b"", {}, *both)

    def _case(self, seed: int, batch: int, case: int, code: int, bits: int) -> Difference | None:
        mpu, memory, ours = self.mpu, self.memory, self.ours
        a, x, y, s, p = bits & 0xFF, bits >> 8 & 0xFF, bits >> 16 & 0xFF, bits >> 24 & 0xFF, bits >> 32 & 0xFF
        if code in ADC_AND_SBC:
            p &= ~8
        pc = 0x200 + (bits >> 40) % 0xFDFC  # not in the stack, where JSR would overwrite itself, nor over the end
        memory[pc] = ours[pc] = code
        instruction = bytes(memory[pc : pc + 3])
        mpu.a, mpu.x, mpu.y, mpu.sp, mpu.p, mpu.pc = a, x, y, s, p | 0x30, pc
        self.cpu.set_registers(a=a, x=x, y=y, s=s, p=p, pc=pc)
        memory.written.clear()
        if code in self.model.rules:
            mpu.pc = pc + 1
            cycles = self.model.step(code)
        else:
            mpu.processorCycles = 0
            mpu.step()
            cycles = mpu.processorCycles + PY65_OWES.get(code, 0)
        took = self.cpu.step()
        got = self.cpu.registers()
        if (
            took == cycles
            and got["pc"] == mpu.pc
            and got["a"] == mpu.a
            and got["x"] == mpu.x
            and got["y"] == mpu.y
            and got["s"] == mpu.sp
            and not (got["p"] ^ mpu.p) & FLAGS
            and all(ours[address] == memory[address] for address in memory.written)
        ):
            return None
        expected = {"a": mpu.a, "x": mpu.x, "y": mpu.y, "s": mpu.sp, "p": mpu.p & FLAGS, "pc": mpu.pc, "cycles": cycles}
        shown = {name: got[name] for name in ("a", "x", "y", "s", "p", "pc")} | {"cycles": took}
        shown["p"] &= FLAGS
        for address in memory.written:
            expected[f"memory {address:04X}"] = memory[address]
            shown[f"memory {address:04X}"] = ours[address]
        before = {"a": a, "x": x, "y": y, "s": s, "p": p, "pc": pc}
        return Difference(seed, batch, case, instruction, before, expected, shown)


def first_difference(cpu: Cpu, seed: int, batches: range) -> Difference | None:
    """The first case of these batches in which the processor disagrees, or None."""
    fuzzer = Fuzzer(cpu)
    return next((found for batch in batches if (found := fuzzer.batch(seed, batch)) is not None), None)


def _some_batches(task: tuple[int, int, int]) -> tuple[int, str | None]:
    from respawn.worlds.mario._engine import FlatCpu

    seed, first, last = task
    difference = first_difference(FlatCpu(), seed, range(first, last))
    return (last - first) * CASES_PER_BATCH, None if difference is None else str(difference)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batch", type=int, default=None, help="only this batch")
    arguments = parser.parse_args()
    batches = -(-arguments.cases // CASES_PER_BATCH)
    spans = [(first, min(first + 50, batches)) for first in range(0, batches, 50)]
    if arguments.batch is not None:
        spans = [(arguments.batch, arguments.batch + 1)]
    began, done = time.perf_counter(), 0
    total = sum(last - first for first, last in spans) * CASES_PER_BATCH
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        tasks = [(arguments.seed, first, last) for first, last in spans]
        for count, difference in pool.imap_unordered(_some_batches, tasks):
            if difference is not None:
                pool.terminate()
                print(f"\n{difference}", file=sys.stderr)
                return 1
            done += count
            rate = done / (time.perf_counter() - began)
            print(f"\r{done:,} of {total:,} cases, {rate:,.0f}/s", end="", flush=True)
    seconds = time.perf_counter() - began
    print(f"\nall {done:,} cases equal: {len(CODES)} codes, seed {arguments.seed}, {seconds:.0f} s")
    if arguments.batch is None:
        from harness import keep

        keep("engine_fuzz", __doc__ or "", {"cases": done, "codes": len(CODES), "equal": True, "seconds": round(seconds, 1)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
