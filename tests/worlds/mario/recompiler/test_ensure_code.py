"""From a cartridge to a library to trust, or to one sentence about why there is none."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from copying_compiler import Copier, write_compiler

from respawn.worlds.mario import _engine, recompiler
from respawn.worlds.mario.recompiler import ensure_code
from respawn.worlds.mario.recompiler.cache import Slot
from respawn.worlds.mario.recompiler.verify import UntrustedCodeError

IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler import ensure_code
ines = Path(sys.argv[1]).read_bytes()
print(ensure_code(_engine.Cartridge(ines), ines))
"""


def ensured(ines: bytes) -> tuple[Path | None, list[str]]:
    """What comes back, and what was said."""
    said: list[str] = []
    return ensure_code(_engine.Cartridge(ines), ines, say=said.append), said


def left_behind(cache: Path) -> list[str]:
    """What lies in the cache besides the lock."""
    return sorted(path.name for path in cache.glob("*") if path.name != "making.lock") if cache.exists() else []


def no_compiler(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(folder / "empty"))


def test_compiled_once_then_found(little_game: bytes, cache: Path, copier: Copier) -> None:
    library, said = ensured(little_game)
    assert library is not None
    assert len(said) == 2
    assert said[0].startswith("compiling the game's program")
    assert said[1].endswith("equal to the interpreter over 3,000 frames")
    assert ensured(little_game) == (library, [])
    assert copier.runs == 1
    cartridge = _engine.Cartridge(little_game)
    cartridge.load_code(str(library))
    assert cartridge.recompiled


def test_code_outlives_its_compiler(
    little_game: bytes, cache: Path, copier: Copier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, _ = ensured(little_game)
    no_compiler(monkeypatch, tmp_path)
    assert library is not None
    assert ensured(little_game) == (library, [])


@pytest.mark.parametrize("name", ["code.so", "code.json"])
def test_damaged_code_is_made_anew(little_game: bytes, cache: Path, copier: Copier, name: str) -> None:
    library, _ = ensured(little_game)
    assert library is not None
    damaged = library.parent / name
    damaged.write_bytes(damaged.read_bytes()[:-7])
    assert ensured(little_game)[0] == library
    assert copier.runs == 2
    assert Slot.of(_engine.Cartridge(little_game).program).read() == library


def test_no_compiler(little_game: bytes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_compiler(monkeypatch, tmp_path)
    library, said = ensured(little_game)
    assert library is None
    assert len(said) == 1
    assert said[0].startswith(
        "the game's program is interpreted, several times slower than compiled: there is no C++ compiler"
    )
    assert left_behind(cache) == []


def test_a_compiler_that_fails(
    little_game: bytes, cache: Path, tmp_path: Path, little_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = write_compiler(tmp_path, little_library, first="echo 'fatal error: no room' >&2; exit 1")
    monkeypatch.setenv("CXX", str(failing.path))
    library, said = ensured(little_game)
    assert library is None
    assert len(said) == 2
    assert "is interpreted" in said[1]
    assert said[1].endswith("failed with exit code 1: fatal error: no room")
    assert left_behind(cache) == []


def test_code_that_differs_is_not_kept(
    little_game: bytes, cache: Path, copier: Copier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(ines: bytes, library: Path) -> int:
        raise UntrustedCodeError("it differs from the interpreter in frame 7 of seed 1: ram")

    monkeypatch.setattr(recompiler, "verify", differs)
    library, said = ensured(little_game)
    assert library is None
    assert [sentence for sentence in said if "interpreted" in sentence] == said[1:]
    assert said[1].endswith("in frame 7 of seed 1: ram")
    assert left_behind(cache) == []


def test_a_library_that_does_not_load_is_not_kept(
    little_game: bytes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonsense = tmp_path / "nonsense"
    nonsense.write_bytes(b"no library")
    monkeypatch.setenv("CXX", str(write_compiler(tmp_path, nonsense).path))
    library, said = ensured(little_game)
    assert library is None
    assert len(said) == 2
    assert "is interpreted" in said[1]
    assert left_behind(cache) == []


def test_a_cache_that_cannot_be_written(
    little_game: bytes, copier: Copier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_the_way))
    library, said = ensured(little_game)
    assert library is None
    assert len(said) == 1
    assert said[0] == (
        "the game's program is interpreted, several times slower than compiled: "
        f"the cache folder {in_the_way}/respawn/code cannot be written (Not a directory); "
        "set XDG_CACHE_HOME to one that can"
    )


@pytest.mark.parametrize("foreign", ["link", "owner"])
def test_nothing_is_loaded_from_a_cache_of_others(
    foreign: str, little_game: bytes, cache: Path, copier: Copier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ensured(little_game)[0] is not None
    if foreign == "link":
        cache.rename(tmp_path / "elsewhere")
        cache.symlink_to(tmp_path / "elsewhere")
    else:
        monkeypatch.setattr("os.geteuid", lambda: cache.stat().st_uid + 1)
    library, said = ensured(little_game)
    assert library is None
    assert len(said) == 1
    assert f"is interpreted, several times slower than compiled: the cache folder {cache} " in said[0]
    assert said[0].endswith("; set XDG_CACHE_HOME to a folder of your own")
    assert copier.runs == 1


def test_code_that_others_may_write_is_made_anew(little_game: bytes, cache: Path, copier: Copier) -> None:
    library, _ = ensured(little_game)
    assert library is not None
    library.chmod(0o777)
    assert ensured(little_game)[0] == library
    assert copier.runs == 2


def begin(ines: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, str(ines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until_compiling(compiler: Copier) -> None:
    deadline = time.monotonic() + 60
    while compiler.runs == 0:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def game_file(little_game: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "game.nes"
    path.write_bytes(little_game)
    return path


def test_two_processes_compile_once(
    game_file: Path, cache: Path, tmp_path: Path, little_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The compiler waits until the second process has had to wait for the first.
    gate = tmp_path / "gate"
    slow = write_compiler(tmp_path, little_library, first=f'while [ ! -e "{gate}" ]; do sleep 0.05; done')
    monkeypatch.setenv("CXX", str(slow.path))
    first = begin(game_file)
    wait_until_compiling(slow)
    second = begin(game_file)
    assert second.stderr is not None
    waiting = second.stderr.readline()
    gate.touch()
    answers = [process.communicate(timeout=60)[0] for process in (first, second)]
    assert waiting == "respawn: another process is compiling a game; waiting for it\n"
    assert answers[0] == answers[1]
    assert Path(answers[0].strip()).is_relative_to(cache)
    assert slow.runs == 1


def test_a_killed_compilation_leaves_nothing_that_is_trusted(
    little_game: bytes,
    game_file: Path,
    cache: Path,
    tmp_path: Path,
    little_library: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = write_compiler(tmp_path, little_library, first="sleep 60")
    monkeypatch.setenv("CXX", str(endless.path))
    process = begin(game_file)
    wait_until_compiling(endless)
    for group in (process.pid, *endless.processes):
        os.killpg(group, signal.SIGKILL)
    process.communicate(timeout=60)
    assert [name[:7] for name in left_behind(cache)] == ["making-"]
    assert Slot.of(_engine.Cartridge(little_game).program).read() is None
    write_compiler(tmp_path, little_library)
    library, _ = ensured(little_game)
    assert library is not None
    assert left_behind(cache) == [library.parent.name]
