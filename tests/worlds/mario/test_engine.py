import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from little_games import HELD, HELD2, IRQS, LITTLE, VBLANKS, WITH_TILE_RAM, little_rom, real_game

from respawn.errors import RomError
from respawn.worlds.mario import _engine as native
from respawn.worlds.mario import engine, recompiler
from respawn.worlds.mario.rom import Rom

NATIVE = Path(__file__).parents[3] / "native"
HEADER_BYTES = 32
GAMES = {"little": lambda: LITTLE, "little with tile RAM": lambda: WITH_TILE_RAM, "real": real_game}


@pytest.fixture
def console():
    return native.Console(native.Cartridge(LITTLE))


@pytest.fixture(params=GAMES)
def game(request):
    return native.Cartridge(GAMES[request.param]())


def play(console, buttons, draw=False):
    for held in buttons:
        console.frame(int(held), draw=draw)


class TestCartridge:
    def test_knows_what_is_on_it(self):
        cartridge = native.Cartridge(LITTLE)
        assert (cartridge.mapper, cartridge.prg_bytes, cartridge.chr_bytes) == (0, 0x8000, 0x2000)
        assert cartridge.mirroring == "vertical"
        assert cartridge.program == LITTLE[16 : 16 + 0x8000]
        assert not cartridge.recompiled
        assert native.Cartridge(WITH_TILE_RAM).chr_bytes == 0

    def test_names_its_program(self):
        assert re.fullmatch("[0-9a-f]{16}", native.Cartridge(LITTLE).program_hash)
        other = bytearray(LITTLE)
        other[16 + 0x1234] ^= 1
        assert native.Cartridge(bytes(other)).program_hash != native.Cartridge(LITTLE).program_hash

    @pytest.mark.parametrize("file", [b"", b"NES", b"NES\x1a" + bytes(12), LITTLE[:-1], LITTLE + b"x", bytes(50_000)])
    def test_refuses_other_files_in_one_sentence(self, file):
        with pytest.raises(ValueError, match=r"^[a-z][^\n]+$"):
            native.Cartridge(file)

    def test_finds_waiting_loops(self):
        heads = native.Cartridge(LITTLE).idle_heads
        assert len(heads) >= 2 and all(0x8000 <= head <= 0xFFFF for head in heads)


class TestCode:
    @pytest.mark.parametrize("content", [None, b"no library"])
    def test_what_cannot_be_opened_is_refused(self, tmp_path, content):
        library = tmp_path / "code.so"
        if content is not None:
            library.write_bytes(content)
        cartridge = native.Cartridge(LITTLE)
        with pytest.raises(ValueError, match="cannot be opened"):
            cartridge.load_code(str(library))
        assert not cartridge.recompiled

    @pytest.mark.parametrize(
        ("export", "says"),
        [
            ("int other;", "does not export 'respawn_code'"),
            ("struct E respawn_code = {99, BYTES, HASH, run, reach};", "follows version 99 of the contract"),
            ("struct E respawn_code = {VERSION, 1, HASH, run, reach};", "expects consoles of 1 bytes"),
            ('struct E respawn_code = {VERSION, BYTES, "1234", run, reach};', "was made from program 1234"),
            ("struct E respawn_code = {VERSION, BYTES, HASH, 0, 0};", "holds no code"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, tmp_path, export, says):
        compiler = shutil.which("cc") or pytest.skip("no C compiler here")
        cartridge = native.Cartridge(LITTLE)
        source, library = tmp_path / "code.c", tmp_path / "code.so"
        source.write_text(
            "struct E { int v, b; const char* h; void (*run)(void); const unsigned short* reach; };\n"
            f"enum {{ VERSION = {native.code_contract_version()}, BYTES = {native.console_bytes()} }};\n"
            f'#define HASH "{cartridge.program_hash}"\n'
            "void run(void) {}\nconst unsigned short reach[32768];\n" + export + "\n"
        )
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        with pytest.raises(ValueError, match=says):
            cartridge.load_code(str(library))


class TestConsole:
    def test_plays(self, console):
        play(console, [0b10110001] * 10)
        assert console.read(HELD) == 0b10001101  # shifted in from A on
        assert console.read(VBLANKS) > 5
        assert console.read(IRQS) > 0
        console.frame(0, 0b1111)
        assert console.read(HELD2) == 0b11110000

    def test_goes_on_from_what_was_saved(self, game):
        console, other = native.Console(game), native.Console(game)
        random = np.random.default_rng(5)
        for _ in range(25):
            play(console, random.integers(0, 256, random.integers(1, 20)))
            saved, buttons = console.save(), random.integers(0, 256, 12)
            play(console, buttons, draw=True)
            after, shown = console.save(), console.indices()
            console.load(saved)
            assert console.save() == saved
            play(console, buttons, draw=True)
            assert console.save() == after
            assert np.array_equal(console.indices(), shown)
            other.load(saved)
            play(other, buttons)
            assert other.save() == after

    def test_steps_to_where_a_frame_ends(self, game):
        stepped, whole = native.Console(game), native.Console(game)
        for _ in range(4):
            whole.frame()
            while stepped.registers()["cycle"] < whole.registers()["cycle"]:
                assert 1 < stepped.step() < 600
            assert stepped.save() == whole.save()

    def test_names_every_field(self, console):
        listed = re.findall(r"NES_FIELD\((?!field)([a-z_0-9.]+)\)", (NATIVE / "nes" / "state.h").read_text())
        fields = console.fields()
        assert list(fields) == listed
        assert {"cpu.pc", "ppu.vram", "apu.step_at", "controllers.held", "frames", "ram"} <= set(fields)
        assert fields["ram"] == console.ram().tobytes()
        tiles = native.Console(native.Cartridge(WITH_TILE_RAM)).fields()["pattern_ram"]
        assert tiles == bytes(8192)

    def test_reset_begins_again(self, console):
        play(console, [1] * 30)
        console.poke(VBLANKS, 0)
        start = native.Console(native.Cartridge(LITTLE)).registers()["pc"]
        console.reset()
        assert console.registers()["pc"] == start
        play(console, [1] * 5)
        assert 0 < console.read(VBLANKS) < 5

    def test_shows_what_it_drew(self, console):
        for picture in (console.indices, console.rgb, lambda: console.grey(84, 84)):
            with pytest.raises(ValueError, match="no frame has been drawn yet"):
                picture()
        play(console, [3] * 30)
        console.frame(3, draw=True)
        indices, rgb = console.indices(), console.rgb()
        assert (indices.shape, rgb.shape, console.grey(60, 100).shape) == ((240, 256), (240, 256, 3), (60, 100))
        assert indices.max() < 64 and len(np.unique(indices)) > 3
        assert len(np.unique(rgb.reshape(-1, 3), axis=0)) <= len(np.unique(indices))
        whole = console.grey(240, 256).astype(float)
        assert abs(whole.mean() - console.grey(1, 1)[0, 0]) <= 0.51
        assert np.abs(whole - rgb @ [0.299, 0.587, 0.114]).max() <= 0.51

    @pytest.mark.parametrize(("height", "width"), [(0, 84), (84, -1), (1025, 84)])
    def test_shows_no_impossible_sizes(self, console, height, width):
        console.frame(draw=True)
        with pytest.raises(ValueError, match="must be 1 to 1024 pixels"):
            console.grey(height, width)

    def test_reads_and_pokes(self, console):
        console.poke(0x1801, 77)
        assert console.read(1) == console.read(0x801) == console.ram()[1] == 77
        assert console.read(0xFFFF) == LITTLE[16 + 0x7FFF]
        assert console.read(0x2002) == 0

    def test_sets_registers(self, console):
        console.set_registers(a=1, x=2, y=3, s=4, p=0xFF, pc=0x8005)
        registers = console.registers()
        assert [registers[name] for name in "axysp"] == [1, 2, 3, 4, 0xEF]
        assert registers["pc"] == 0x8005

    def test_covers_where_it_has_been(self, console):
        before = native.Console(native.Cartridge(LITTLE))
        executed = console.coverage(bytes([1] * 8))
        assert len(executed) == 0x8000 and set(executed) == {0, 1}
        assert executed[before.registers()["pc"] - 0x8000] == 1
        assert 60 < sum(executed) < 120
        play(before, [1] * 8)
        assert before.save() == console.save()

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda console: console.frame(256), "buttons must be a whole number from 0 to 255, but is 256"),
            (lambda console: console.frame(0, -1), "buttons2 must be a whole number from 0 to 255, but is -1"),
            (lambda console: console.frame("A"), "buttons must be a whole number from 0 to 255, but is 'A'"),
            (lambda console: console.read(0x10000), "an address must be a whole number from 0 to 65535"),
            (lambda console: console.poke(0x2000, 0), "a RAM address must be a whole number from 0 to 8191"),
            (lambda console: console.poke(0, 256), "a byte must be a whole number from 0 to 255"),
            (lambda console: console.set_registers(q=1), "there is no register 'q' to set"),
            (lambda console: console.set_registers(cycle=1), "there is no register 'cycle' to set"),
            (lambda console: console.set_registers(pc=-1), "pc must be a whole number from 0 to 65535"),
        ],
    )
    def test_says_what_is_wrong(self, console, call, says):
        with pytest.raises(ValueError, match=says):
            call(console)


class TestHostileStates:
    @pytest.mark.parametrize(
        ("damage", "says"),
        [
            (lambda saved: b"", "no saved console"),
            (lambda saved: b"X" + saved[1:], "no saved console"),
            (lambda saved: saved[:8] + b"\xff\0\0\0" + saved[12:], "saved by an engine with other fields"),
            (lambda saved: saved[:16] + b"0" * 16 + saved[32:], "while it played program 0000000000000000"),
            (lambda saved: saved[:-1], r"has \d+ bytes, and \d+ came"),
            (lambda saved: saved + b"x", r"has \d+ bytes, and \d+ came"),
            (lambda saved: saved[:HEADER_BYTES] + b"\xff" * (len(saved) - HEADER_BYTES), "what no console can"),
        ],
    )
    def test_other_bytes_are_refused(self, console, damage, says):
        play(console, [1] * 10)
        saved = console.save()
        with pytest.raises(ValueError, match=says):
            console.load(damage(saved))
        assert console.save() == saved

    def test_flipped_bits_are_refused_or_harmless(self, console):
        play(console, [1] * 20)
        good, random, taken = console.save(), np.random.default_rng(1), 0
        for _ in range(600):
            bad = bytearray(good)
            for at in random.integers(HEADER_BYTES, HEADER_BYTES + 500, 2):
                bad[at] ^= 1 << random.integers(8)
            try:
                console.load(bytes(bad))
            except ValueError:
                continue
            taken += 1
            play(console, [0, 255], draw=True)
        assert 0 < taken < 600


class TestFlatCpu:
    def test_runs_one_instruction(self):
        cpu = native.FlatCpu()
        cpu.memory[0x400:0x402] = [0xA9, 0x80]  # LDA #$80
        cpu.set_registers(pc=0x400, cycle=100)
        assert cpu.step() == 2
        assert cpu.registers() == {"a": 0x80, "x": 0, "y": 0, "s": 0, "p": 0xA0, "pc": 0x402, "cycle": 102}

    def test_its_memory_outlives_it(self):
        memory = native.FlatCpu().memory
        memory[:] = 7
        assert memory.sum() == 7 * 65536


class TestModule:
    def test_opcodes(self):
        table = native.opcode_table()
        assert [row[0] for row in table] == list(range(256))
        assert table[0x29] == (0x29, "and", "immediate", 2, 2, False)
        assert table[0xBD] == (0xBD, "lda", "absolute_x", 3, 4, True)
        assert table[0x9D] == (0x9D, "sta", "absolute_x", 3, 5, False)
        assert not any(row[1].endswith("_") for row in table)

    def test_simd_paths_give_the_same_bytes(self, console):
        before = native.simd_path()
        assert native.simd_paths()[-1] == "plain"
        try:
            saved, shown = console.save(), []
            for path in native.simd_paths():
                native.set_simd_path(path)
                assert native.simd_path() == path
                console.load(saved)
                play(console, [1] * 20, draw=True)
                shown.append(console.grey(84, 84).tobytes() + console.rgb().tobytes())
            assert len(set(shown)) == 1
            with pytest.raises(ValueError, match=r"this machine can use the SIMD paths .*'plain', and 'mmx' came"):
                native.set_simd_path("mmx")
        finally:
            native.set_simd_path(before)


class TestOpening:
    def test_opens_an_interpreter(self, monkeypatch):
        monkeypatch.setattr(recompiler, "ensure_code", lambda *_: pytest.fail("asked for code"))
        assert not engine.open_cartridge(little_rom(), interpret=True).recompiled
        engine.open_console(little_rom(), interpret=True).frame()

    def test_interprets_without_code(self, monkeypatch):
        monkeypatch.setattr(recompiler, "ensure_code", lambda cartridge, ines: None)
        assert not engine.open_cartridge(little_rom()).recompiled

    def test_interprets_with_code_that_does_not_fit(self, monkeypatch, tmp_path, capsys):
        monkeypatch.setattr(recompiler, "ensure_code", lambda cartridge, ines: tmp_path / "gone.so")
        assert not engine.open_cartridge(little_rom()).recompiled
        said = capsys.readouterr().err
        assert said.startswith("respawn: the game's program is interpreted: ") and said.count("\n") == 1

    def test_says_whose_file_cannot_be_played(self):
        with pytest.raises(RomError, match=r"^this\.nes cannot be played: .*it is cut short$"):
            engine.open_cartridge(Rom(LITTLE[:-1], "", "this.nes", "other"))

    @pytest.mark.parametrize("path", ["x.nes", Path("x.nes")])
    @pytest.mark.parametrize("opened", [engine.open_cartridge, engine.open_console])
    def test_says_how_to_open_a_file(self, opened, path):
        with pytest.raises(TypeError, match=re.escape(f"{path!r} came; pass find_rom(path)")):
            opened(path)
