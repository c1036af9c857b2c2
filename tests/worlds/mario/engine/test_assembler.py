"""The tests' own assembler: what it writes, how long its delays take, what it refuses."""

import pytest
from assembler import OPCODES, AssemblyError, assemble, delay_code
from cycles import BASE
from ines import cartridge, ines_image


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("lda #$10", "a9 10"),
        ("lda $10", "a5 10"),
        ("lda abs $10", "ad 10 00"),
        ("lda $10,x", "b5 10"),
        ("lda $10,y", "b9 10 00"),
        ("ldx $10,y", "b6 10"),
        ("lda $1234,x", "bd 34 12"),
        ("lda ($20,x)", "a1 20"),
        ("lda ($20),y", "b1 20"),
        ("jmp ($1234)", "6c 34 12"),
        ("asl", "0a"),
        ("asl a", "0a"),
        ("rla abs $10,y", "3b 10 00"),
        ("op $EB, 3", "eb 03"),
        (".byte 1, $FF, %101, 'A', -1", "01 ff 05 41 ff"),
        (".word here, here+2-1\nhere:", "04 80 05 80"),
        ("here: lda #<here\nlda #>here", "a9 00 a9 80"),
        ("size = 3\n.fill size, 7", "07 07 07"),
        ("bne *", "d0 fe"),
        ("loop: nop\nbne loop ; again", "ea d0 fd"),
        ("bne later\nnop\nlater: rts", "d0 01 ea 60"),
        ("lda later\nlater: rts", "ad 03 80 60"),
        (".org $8003\nnop", "00 00 00 ea"),
    ],
)
def test_statements(text: str, code: str) -> None:
    assert assemble(text).code.hex(" ") == code


@pytest.mark.parametrize(
    "text",
    [
        "lda",
        "sta #1",
        "frob $10",
        "lda #300",
        "nop\n.org $8000",
        "a: nop\na: nop",
        "lda nowhere",
        "bne far\n.fill 200, 0\nfar:",
        ".delay 1",
        ".what 3",
        "lda $10 $20",
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(AssemblyError, match=r"line [12] "):
        assemble(text)


def test_no_code_has_two_names() -> None:
    codes = [code for modes in OPCODES.values() for code in set(modes.values())]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("address", [0x8000, 0x80F0, 0x80F6, 0x80FD])
def test_delays_take_exactly_as_long_as_they_say(address: int) -> None:
    devices = pytest.importorskip("py65.devices.mpu6502")
    for cycles in (0, 2, 3, 4, 5, *range(25, 90), *range(1270, 1330), 29_780, 29_781, 400_000):
        code = delay_code(cycles, address)
        mpu = devices.MPU(pc=address)
        mpu.memory[address : address + len(code)] = list(code)
        while mpu.pc != address + len(code):
            mpu.step()
        assert mpu.processorCycles == cycles


def test_the_count_since_the_mark_fills_up_to_what_is_wanted() -> None:
    built = assemble(".mark\nlda #1\nsta $2000\n.spent 10\n.rest 20").code
    assert built == assemble("lda #1\nsta $2000\n.delay 4").code
    assert BASE[built[0]] + BASE[built[2]] == 6


def test_a_cartridge_has_its_vectors_and_its_tiles() -> None:
    image = cartridge("reset: jmp reset\nnmi: rti", kib=16)
    assert image[:8] == b"NES\x1a\x01\x01\x00\x00"
    assert len(image) == 16 + 0x4000 + 0x2000
    vectors = image[16 + 0x3FFA : 16 + 0x4000]
    assert vectors == b"\x03\xc0\x00\xc0\x04\xc0"
    with pytest.raises(ValueError, match="16 or 32 KiB"):
        ines_image(bytes(100))
