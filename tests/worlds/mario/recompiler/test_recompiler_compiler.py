"""Finding a C++ compiler, and what is said when there is none or it fails."""

import re
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


@pytest.mark.parametrize(("named", "sought"), [("", "g++, c++, clang++"), ("no-such-compiler -x", "no-such-compiler")])
def test_none_at_all(named: str, sought: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerError, match=f"there is no C.. compiler: .*{re.escape(sought)}.*sudo apt install"):
        find_compiler()


def test_one_that_cannot_even_tell_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(script(tmp_path, "broken", "exit 3")))
    with pytest.raises(CompilerError, match=r"does not tell its version \(exit code 3\)"):
        find_compiler()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo note >&2; echo 'x.cpp:1: error: bad' >&2; exit 1", "failed with exit code 1: x.cpp:1: error: bad"),
        ("exit 4", "failed with exit code 4: without a word"),
        ("exit 0", "failed with exit code 0: without a word"),  # but there is no library
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
