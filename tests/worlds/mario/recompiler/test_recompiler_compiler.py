"""Finding a C++ compiler, and what is said when there is none or it fails."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from respawn.worlds.mario.recompiler.compiler import Compiler, CompilerError, find_compiler


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_one_the_user_names_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = script(tmp_path, "mine", "echo 'mine 1.2'; echo more")
    monkeypatch.setenv("CXX", f"{mine} -march=native")
    assert find_compiler() == Compiler((str(mine), "-march=native"), "mine 1.2")


def test_otherwise_the_first_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "clang++", "echo 'clang version 19'")
    other = script(tmp_path, "c++", "echo 'other'")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler().command == (str(other),)


def test_a_path_with_a_space_can_be_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = script(tmp_path, "my compiler", "echo 'mine 1.2'")
    monkeypatch.setenv("CXX", f"'{mine}' -O0")
    assert find_compiler().command == (str(mine), "-O0")


def test_none_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerError, match=r"no C\+\+ compiler: .* g\+\+, c\+\+, clang\+\+; .*sudo apt install"):
        find_compiler()


@pytest.mark.parametrize(
    ("named", "says"),
    [("no-such-compiler -x", "CXX names no-such-compiler, which is not there"), ("g++ '", "is no command")],
)
def test_a_name_of_nothing(named: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    with pytest.raises(CompilerError, match=f"{says}.*; unset CXX, or let it name a C.. compiler$") as caught:
        find_compiler()
    assert "apt" not in str(caught.value)


def test_one_that_cannot_even_tell_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(script(tmp_path, "broken", "exit 3")))
    with pytest.raises(CompilerError, match=r"does not tell its version \(exit code 3\)"):
        find_compiler()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo note >&2; echo 'x.cpp:1: error: bad' >&2; exit 1", "failed with exit code 1: x.cpp:1: error: bad"),
        ("exit 4", "failed with exit code 4: without a word"),
        ("exit 0", "says it succeeded and made no library; let CXX name a C++ compiler"),
        ("sleep 60", "was stopped after 0 seconds"),
    ],
)
def test_one_that_fails(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "sleep" in text:
        monkeypatch.setattr("respawn.worlds.mario.recompiler.compiler.TIMEOUT_SECONDS", 0)
    compiler = Compiler((str(script(tmp_path, "failing", text)),), "failing")
    with pytest.raises(CompilerError, match=re.escape(message)):
        compiler.compile(tmp_path / "x.cpp", tmp_path / "x.so", tmp_path)


def test_what_it_writes_meanwhile_lies_beside_its_result(tmp_path: Path) -> None:
    noting = script(tmp_path, "noting", 'for last; do :; done; echo "$TMPDIR" > "$last"')
    Compiler((str(noting),), "noting").compile(tmp_path / "x.cpp", tmp_path / "x.so", tmp_path)
    assert (tmp_path / "x.so").read_text().strip() == str(tmp_path)


def is_running(process: int) -> bool:
    """A process that ended and that nobody has asked about yet does not count."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return facts.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_it_started_ends_with_us(
    stop: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    endless = script(tmp_path, "endless", f'sleep 60 &\necho $$ $! > "{note}.new"; mv "{note}.new" "{note}"; wait')

    def interrupted(process: subprocess.Popen[str], timeout: float) -> None:
        deadline = time.monotonic() + 60
        while not note.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        raise stop

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(stop):
        Compiler((str(endless),), "endless").compile(tmp_path / "x.cpp", tmp_path / "x.so", tmp_path)
    deadline = time.monotonic() + 60
    processes = [int(number) for number in note.read_text().split()]
    assert len(processes) == 2
    while any(is_running(process) for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.01)
