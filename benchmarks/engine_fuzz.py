"""Does every instruction do to registers, flags, memory and time what py65 says, in millions of random cases?

Official codes are compared with py65. It knows no unofficial ones: for those there is a small model beside this file,
written from their documented definitions. Left out are the codes that jam the processor and those whose result no one
can promise. Without decimal mode ADC and SBC ignore D, which py65 does not: it is kept clear for them.

Cases come in batches that are reproducible one by one: when one differs, the command to repeat it is printed.
"""

import argparse
import multiprocessing
import random
import sys
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unofficial_6502 import Model, Recorded

CASES_PER_BATCH = 1000

JAMS = frozenset(range(0x02, 0x80, 0x10)) | frozenset((0x92, 0xB2, 0xD2, 0xF2))
UNSTABLE = frozenset((0x8B, 0x93, 0x9B, 0x9C, 0x9E, 0x9F, 0xAB))
ADC_AND_SBC = frozenset(high | low for high in (0x60, 0xE0) for low in (0x01, 0x05, 0x09, 0x0D, 0x11, 0x15, 0x19, 0x1D))
LEFT_OUT = JAMS | UNSTABLE
CODES = tuple(code for code in range(256) if code not in LEFT_OUT)
FLAGS = 0xCF  # bits 4 and 5 do not exist in the register
PY65_OWES = {0xCE: 3}  # its table says 3 cycles for DEC absolute; the documented number is 6


class Cpu(Protocol):
    """What is asked of the processor under test (`respawn.worlds.mario._engine.FlatCpu`)."""

    memory: NDArray[np.uint8]

    def step(self) -> int:
        """Runs one instruction and answers its cycles."""
        ...

    def registers(self) -> dict[str, int]:
        """A, x, y, s, p and pc."""
        ...

    def set_registers(self, **values: int) -> None:
        """Sets the registers named."""
        ...


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

        keep(
            "engine_fuzz",
            __doc__ or "",
            {"cases": done, "codes": len(CODES), "equal": True, "seconds": round(seconds, 1)},
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
