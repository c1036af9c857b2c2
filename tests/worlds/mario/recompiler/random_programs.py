"""Programs of random pieces that do what games do and what they should not: food for compiled code."""

import random
from collections.abc import Callable, Sequence

from ines import ines_image

OpcodeRow = tuple[int, str, str, int, int, bool]

START = 0x8000
SAFE_END = 0xFE00
COUNTER = 0x0700  # the NMI handler counts here
WAITS = 0x0701  # and sets this
RAM_CODE = 0x0300

JAM, BRK, RTI, RTS, JSR, JMP, JMP_INDIRECT = 0x02, 0x00, 0x40, 0x60, 0x20, 0x4C, 0x6C
LDA, LDX, LDY, PHA, STA, STX, DEX, DEY, BNE = 0xA9, 0xA2, 0xA0, 0x48, 0x8D, 0x8E, 0xCA, 0x88, 0xD0
BRANCHES = (0x10, 0x30, 0x50, 0x70, 0x90, 0xB0, 0xD0, 0xF0)
# Each would end or derail almost every piece, so they come only where a piece is about them.
RARE = {"jam", "brk", "rts", "rti", "jsr", "jmp", "txs", "tas", "las"}


class RandomProgram:
    """A cartridge of random pieces, each of which leads to the next; `pieces` are their addresses."""

    def __init__(self, seed: int, table: Sequence[OpcodeRow], pieces: int = 100) -> None:
        self.chance = random.Random(seed)
        self.table = {row[0]: row for row in table}
        self.code = bytearray()
        self.pieces: list[int] = []
        self.usual = [row for row in table if row[1] not in RARE and row[2] not in {"relative", "indirect"}]
        self.handlers = [self._handler(), self._handler(acknowledges=True)]
        self._dispatcher()
        makers = self._makers()
        for number in range(pieces):
            self._piece(makers[number % len(makers)])
        self.emit(JMP, *self.word(self.pieces[0]))
        self._tables()

    @property
    def ines(self) -> bytes:
        """The cartridge."""
        vectors = b"".join(
            address.to_bytes(2, "little") for address in (self.handlers[0], self.reset, self.handlers[1])
        )
        body = bytes(self.code) + bytes(0x8000 - 6 - len(self.code))
        return ines_image(body + vectors, vertical=bool(self.chance.randrange(2)))

    # -- writing

    @property
    def here(self) -> int:
        return START + len(self.code)

    def emit(self, *values: int) -> None:
        self.code += bytes(value & 0xFF for value in values)
        assert self.here < SAFE_END

    @staticmethod
    def word(value: int) -> tuple[int, int]:
        return value & 0xFF, value >> 8 & 0xFF

    def patch(self, at: int, value: int) -> None:
        self.code[at - START : at - START + 2] = bytes(self.word(value))

    def store(self, value: int, address: int) -> None:
        self.emit(LDA, value, STA, *self.word(address))

    # -- what instructions work on

    def address(self) -> int:
        chance, below = self.chance, self.chance.randrange
        kind = chance.random()
        if kind < 0.45:
            return below(0x800)
        if kind < 0.55:
            return below(0x800, 0x2000)
        if kind < 0.62:
            return 0x2000 + below(8)
        if kind < 0.66:
            return below(0x2000, 0x4000)
        if kind < 0.74:
            return 0x4000 + below(0x18)
        if kind < 0.77:
            return below(0x4018, 0x8000)
        if kind < 0.84:
            # Where indexing leads from one kind of memory to another.
            return chance.choice((0x1F80, 0x1FFF, 0x20F8, 0x3F90, 0x3FFF, 0x40F0, 0x4F15, 0x7F90, 0x7FFF)) + below(2)
        if kind < 0.89:
            return below(0xFF00, 0x10000)
        return below(0x8000, 0x10000)

    def instruction(self, row: OpcodeRow | None = None) -> None:
        """One instruction that goes on behind itself."""
        code, _, mode, length, _, _ = row or self.chance.choice(self.usual)
        if length == 3:
            self.emit(code, *self.word(self.address()))
        elif length == 2:
            self.emit(code, self.chance.randrange(256))
        else:
            self.emit(code)
        assert mode not in {"relative", "indirect"}

    def instructions(self, least: int, most: int) -> None:
        for _ in range(self.chance.randrange(least, most)):
            self.instruction()

    # -- the frame

    def _handler(self, acknowledges: bool = False) -> int:
        start = self.here
        self.emit(PHA, 0xEE, *self.word(COUNTER), 0xEE, *self.word(WAITS))
        if acknowledges:
            self.emit(0x2C, 0x15, 0x40)
        self.instructions(0, 6)
        self.emit(0x68, RTI)
        return start

    def _dispatcher(self) -> None:
        """The way to jump through a table that follows the call: `jsr dispatcher; .word a, b, c`."""
        self.dispatcher = self.here
        self.emit(0x0A, 0xA8, 0x68, 0x85, 0x04, 0x68, 0x85, 0x05, 0xC8)  # asl; tay; pla; sta $04; pla; sta $05; iny
        self.emit(0xB1, 0x04, 0x85, 0x06, 0xC8, 0xB1, 0x04, 0x85, 0x07, JMP_INDIRECT, 0x06, 0x00)

    def _tables(self) -> None:
        """Calls with all pieces behind them, so that a walk can find them; the reset vector leads to the first."""
        self.reset = self.here
        self.emit(0x78, 0xD8, LDX, 0xFF, 0x9A)  # sei; cld; ldx #$ff; txs
        self.store(0x80, 0x2000)
        self.store(0x1E, 0x2001)
        for start in range(0, len(self.pieces), 100):
            skip = self.here + 3
            self.emit(0xEE, *self.word(COUNTER), 0xD0, 3, JMP, 0, 0)
            self.emit(LDA, self.chance.randrange(min(100, len(self.pieces) - start)))
            self.emit(JSR, *self.word(self.dispatcher))
            for piece in self.pieces[start : start + 100]:
                self.emit(*self.word(piece))
            self.patch(skip + 3, self.here)
        self.emit(JMP, *self.word(self.pieces[-1]))

    def _piece(self, body: Callable[[], None]) -> None:
        if self.chance.random() < 0.1:  # near the end of a page, so that branches cross it
            self.emit(*[0xEA] * ((-self.here - self.chance.randrange(1, 12)) % 256 % 40))
        self.pieces.append(self.here)
        self.instructions(0, 4)
        body()
        self.instructions(0, 4)

    def _makers(self) -> list[Callable[[], None]]:
        return [
            self._every_opcode,
            self._straight,
            self._forks,
            self._counted_loop,
            self._raw,
            self._polling,
            self._poll_again,
            self._wait_for_memory,
            self._call,
            self._return_trick,
            self._interrupt_return_trick,
            self._jump_through_pointer,
            self._code_in_ram,
            self._copy_sprites,
            self._sound_interrupts,
            self._pointer_to_io,
            self._indexed_io,
            self._stack_wrap,
            self._video,
            self._odd_ends,
        ]

    # -- the pieces

    def _every_opcode(self) -> None:
        """A share of them each time, in order."""
        for row in self.usual[len(self.pieces) // 20 * 40 % len(self.usual) :][:40]:
            self.instruction(row)

    def _straight(self) -> None:
        self.instructions(10, 40)

    def _forks(self) -> None:
        waiting: list[int] = []
        for _ in range(self.chance.randrange(10, 30)):
            if self.chance.random() < 0.4:
                self.emit(self.chance.choice(BRANCHES), 0)
                waiting.append(len(self.code) - 1)
            else:
                self.instruction()
            while waiting and self.chance.random() < 0.25:
                self._land(waiting.pop(self.chance.randrange(len(waiting))))
        for at in waiting:
            self._land(at)

    def _land(self, at: int) -> None:
        self.code[at] = len(self.code) - at - 1

    def _counted_loop(self) -> None:
        load, count = self.chance.choice(((LDX, DEX), (LDY, DEY)))
        self.emit(load, self.chance.randrange(1, 60))
        head = self.here
        self.instructions(1, 8)
        self.emit(count, BNE, head - self.here - 3)

    def _raw(self) -> None:
        """Bytes that mean nothing, with jumps into the middle of instructions."""
        for _ in range(self.chance.randrange(10, 30)):
            value = self.chance.randrange(256)
            self.emit(0xEA if self.table[value][1] == "jam" else value)
        self.emit(0xEA, 0xEA)

    def _polling(self) -> None:
        head = self.here
        if self.chance.random() < 0.5:
            self.emit(self.chance.choice((0xAD, 0xAE, 0xAC, 0x2C)), 0x02, 0x20)
        else:
            self.emit(0xAD, 0x02, 0x20, 0x29, self.chance.choice((0x80, 0x40, 0xC0)))
        self.emit(self.chance.choice((0x10, 0x50, 0xF0, 0x30, 0xD0)), head - self.here - 2)

    def _poll_again(self) -> None:
        """Comes back to the head of a waiting loop from elsewhere, with what it waits for already there."""
        self.store(0, 0x0710)
        head = self.here
        self.emit(0xAD, *self.word(self.chance.choice((COUNTER, WAITS, 0x2002))), 0x10, 0xFB)
        self.emit(0xEE, 0x10, 0x07, 0xAD, 0x10, 0x07, 0xC9, self.chance.randrange(3, 30))
        self.emit(0xB0, 3, JMP, *self.word(head))

    def _wait_for_memory(self) -> None:
        self.store(0, WAITS)
        self.store(0x80 | self.chance.randrange(64), 0x2000)
        head = self.here
        self.emit(0xAD, *self.word(WAITS), 0xF0, head - self.here - 5)

    def _call(self) -> None:
        """Calls within calls; the subroutines lie behind a jump over them."""
        self.emit(JMP, 0, 0)
        over = self.here - 2
        inner = self.here
        self.instructions(1, 5)
        self.emit(RTS)
        outer = self.here
        self.instructions(0, 3)
        self.emit(JSR, *self.word(inner), JSR, *self.word(inner))
        self.instructions(0, 3)
        self.emit(RTS)
        self.patch(over, self.here)
        self.emit(JSR, *self.word(outer))
        self.instruction()
        self.emit(JSR, *self.word(outer))

    def _return_trick(self) -> None:
        target = self.here + 7 + self.chance.randrange(3)
        high, low = divmod(target - 1, 256)
        self.emit(LDA, high, PHA, LDA, low, PHA, RTS, 0xEA, 0xEA, 0xEA)

    def _interrupt_return_trick(self) -> None:
        target = self.here + 10 + self.chance.randrange(3)
        self.emit(LDA, target >> 8, PHA, LDA, target, PHA, LDA, self.chance.randrange(256), PHA, RTI)
        self.emit(0xEA, 0xEA, 0xEA)

    def _jump_through_pointer(self) -> None:
        pointer = self.chance.choice((0x02FF, 0x0240, 0x00FF, 0x0AFF))
        high_at = (pointer & 0xFF00) | (pointer + 1) & 0xFF
        target = self.here + 13 + self.chance.randrange(3)
        self.store(target, pointer)
        self.store(target >> 8, high_at)
        self.emit(JMP_INDIRECT, *self.word(pointer), 0xEA, 0xEA, 0xEA)

    def _code_in_ram(self) -> None:
        """Writes a little program that changes itself to RAM and calls it, twice."""
        program = [0xEE, *self.word(RAM_CODE + 4), 0xA9, self.chance.randrange(256), 0x65, self.chance.randrange(256)]
        program += self.chance.choice(([RTS], [0x8D, 0x07, 0x20, RTS], [0xA2, 3, DEX, BNE, 0xFD, RTS]))
        for offset, value in enumerate(program):
            self.store(value, RAM_CODE + offset)
        self.emit(JSR, *self.word(RAM_CODE), JSR, *self.word(RAM_CODE))

    def _copy_sprites(self) -> None:
        """Once, or so often that a vblank comes meanwhile."""
        if self.chance.random() < 0.5:
            self.store(self.chance.choice((0x80, 0x90)), 0x2000)
            self.emit(LDA, self.chance.randrange(8), LDX, self.chance.randrange(20, 60))
            head = self.here
            self.emit(STA, 0x14, 0x40, DEX, BNE, head - self.here - 6)
            return
        page = self.chance.choice((0x02, 0x07, 0x1F, 0x80, 0x20, 0x40))
        kind = self.chance.randrange(4)
        if kind == 0:
            self.store(page, 0x4014)
        elif kind == 1:
            self.emit(LDX, page, STX, 0x14, 0x40)
        elif kind == 2:
            self.emit(LDA, page, LDX, 0x14, 0x9D, 0x00, 0x40)
        else:
            self.store(0x14, 0x10)
            self.store(0x40, 0x11)
            self.emit(LDA, page, LDY, 0, 0x91, 0x10)

    def _sound_interrupts(self) -> None:
        for register in self.chance.sample((0x4010, 0x4012, 0x4013, 0x4015, 0x4017), 3):
            self.store(self.chance.choice((0x00, 0x40, 0x80, 0x8F, 0x1F, self.chance.randrange(256))), register)
        self.emit(self.chance.choice((0x58, 0x78, 0x58)))
        self.instructions(1, 6)
        if self.chance.random() < 0.3:
            self.emit(0xAD, 0x15, 0x40)

    def _pointer_to_io(self) -> None:
        """Loads, stores and changes through a pointer, in a loop whose head is one of them."""
        address = self.address()
        self.store(address, 0x20)
        self.store(address >> 8, 0x21)
        modes = [row for row in self.usual if row[2] in {"indirect_x", "indirect_y"}]
        self.emit(LDX, 0x20, LDY, self.chance.randrange(3), 0x84, 0x30)
        head = self.here
        for _ in range(self.chance.randrange(1, 4)):
            code, _, mode, *_ = self.chance.choice(modes)
            self.emit(code, 0x20 if mode == "indirect_y" else 0)
        self.emit(0xE6, 0x30, 0xA5, 0x30, 0xC9, self.chance.randrange(4, 12), 0x90, head - self.here - 8)

    def _indexed_io(self) -> None:
        """Sweeps over registers by index."""
        base = self.chance.choice((0x2000, 0x1FF8, 0x3FF0, 0x20F9, 0x4000, 0x40F0))
        code = self.chance.choice((0x9D, 0xBD, 0x5D, 0x9D, 0xFE, 0x1D, 0x9D))
        self.emit(LDX, self.chance.randrange(1, 24))
        head = self.here
        self.emit(code, *self.word(base), DEX, BNE, head - self.here - 6)

    def _stack_wrap(self) -> None:
        self.emit(LDX, self.chance.choice((0x00, 0x01, 0x02, 0xFF, 0xFE)), 0x9A)
        self.emit(JMP, 0, 0)
        over = self.here - 2
        subroutine = self.here
        self.emit(PHA, 0x08, 0x68, 0x68, RTS)
        self.patch(over, self.here)
        self.emit(JSR, *self.word(subroutine), 0xBA)

    def _video(self) -> None:
        self.store(self.chance.choice((0x80, 0x00, 0x90, 0xA8, self.chance.randrange(256))), 0x2000)
        self.store(self.chance.choice((0x1E, 0x18, 0x08, 0x00)), 0x2001)
        self.emit(0xAD, 0x02, 0x20)
        self.store(self.chance.randrange(0x20, 0x40), 0x2006)
        self.store(self.chance.randrange(256), 0x2006)
        self.emit(LDX, self.chance.randrange(1, 20))
        head = self.here
        self.emit(0x8E if self.chance.random() < 0.5 else 0xAD, 0x07, 0x20, DEX, BNE, head - self.here - 6)

    def _odd_ends(self) -> None:
        """What ends most games."""
        kind = self.chance.random()
        if kind < 0.2:
            self.emit(JAM)
        elif kind < 0.5:
            self.emit(BRK, 0xEA)
        elif kind < 0.6:
            self.emit(JMP_INDIRECT, 0x02, 0x20)
        elif kind < 0.7:
            self.emit(JMP, *self.word(self.here))
        elif kind < 0.8:
            self.emit(JMP, *self.word(self.chance.choice((0x0010, 0x4020, 0xFFFE))))
        elif kind < 0.9:
            self.instructions(3, 9)
            self.emit(RTS)
        else:
            self.emit(0xBB, *self.word(self.address()), 0x9B, *self.word(self.address()))
