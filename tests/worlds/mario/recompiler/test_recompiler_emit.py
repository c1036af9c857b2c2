"""Compiled code does what the interpreter does, to the last bit: on programs made to trip it up, and on a real one."""

import random
from pathlib import Path

import pytest
from both_ways import BothWays, compiled
from ines import cartridge
from random_programs import RandomProgram

from respawn.errors import RomError
from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler import ensure_code
from respawn.worlds.mario.rom import find_rom

# Each section once hung or went astray; it counts itself in $F0 when it is through.
HARD_PLACES = """
reset:
    ldx #$FF
    txs
    lda #$80
    sta $2000
again:
    lda #$07        ; a loop whose head stores through a pointer to a register
    sta $10
    lda #$20
    sta $11
    ldy #0
    ldx #9
through:
    sta ($10),y
    dex
    bne through
    inc $F0

    ldx #3          ; a loop whose head changes what cannot be changed
rom:
    inc $8000
    dex
    bne rom
    inc $F0

    lda #0          ; the head of a waiting loop, come to from afar, with nothing to wait for
    sta $20
    lda #$80
    sta $21
wait:
    lda $21
    bpl wait
    inc $20
    lda $20
    cmp #200
    bcs waited
    jmp wait
waited:
    inc $F0

    lda $12         ; one that waits for what the interrupt changes
    sta $13
frame:
    lda $12
    cmp $13
    beq frame
    inc $F0

    lda #>target - 1
    pha
    lda #<target - 1
    pha
    rts             ; a jump through the stack
    .byte $02
target:
    inc $F0
    jmp again

nmi:
    inc $12
    rti
"""


def test_hard_places(tmp_path: Path) -> None:
    ines = cartridge(HARD_PLACES)
    both = BothWays(ines, compiled(ines, tmp_path))
    assert both.frames(40, random.Random(0)) == ""
    assert both.running.read(0xF0) >= 5 * 35, "a frame is time enough for all sections"


@pytest.mark.parametrize("seed", [100, 101])
def test_random_programs(seed: int, tmp_path: Path) -> None:
    program = RandomProgram(seed, _engine.opcode_table(), pieces=100)
    ines = program.ines
    assert BothWays(ines, compiled(ines, tmp_path)).rounds(1_500, program.pieces, seed) == ""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1_000, 1_020))
def test_more_random_programs(seed: int, tmp_path: Path) -> None:
    program = RandomProgram(seed, _engine.opcode_table(), pieces=240)
    ines = program.ines
    assert BothWays(ines, compiled(ines, tmp_path)).rounds(10_000, program.pieces, seed) == ""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_engines_own_little_programs(tmp_path: Path) -> None:
    from programs import interrupts, pads, pictures, processor, sound, sprites, timing, video

    for room in (interrupts, timing, sprites, video, pictures, pads, sound, processor):
        for program in room.PROGRAMS:
            ines = program.ines()
            folder = tmp_path / program.name  # a path that was opened once stands for the library it then was
            folder.mkdir()
            both = BothWays(ines, compiled(ines, folder))
            assert both.frames(program.frames, random.Random(0)) == "", program.name


def test_super_mario_bros(cache: Path) -> None:
    try:
        rom = find_rom(expect="ntsc")
    except RomError as error:
        pytest.skip(str(error))
    said: list[str] = []
    library = ensure_code(_engine.Cartridge(rom.data), rom.data, say=said.append)
    assert library is not None, said
    assert library.is_relative_to(cache)
    assert len(said) == 2
    assert "equal to the interpreter over 3,000 frames" in said[1]
    both = BothWays(rom.data, library)
    assert both.frames(2_000, random.Random(5)) == ""
