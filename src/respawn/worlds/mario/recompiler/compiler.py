"""The C++ compiler of the machine we are on."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

COMPILER_VARIABLE = "CXX"
CANDIDATES = ("g++", "c++", "clang++")
TIMEOUT_SECONDS = 600
# More than -O1 costs gcc and clang twice the time and gains nothing.
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-w")


class CompilerError(Exception):
    """The compiler is missing or refuses; the message is one clause."""


@dataclass(frozen=True)
class Compiler:
    """A compiler and what to ask of it."""

    command: tuple[str, ...]
    """its path, and what the user wants passed to it"""
    version: str
    """the first line it says about itself"""

    def compile(self, source: Path, target: Path, headers: Path) -> None:
        """Make a shared library of one source file."""
        command = [*self.command, *FLAGS, "-I", str(headers), str(source), "-o", str(target)]
        # What a killed compiler leaves behind then lies where it is tidied up.
        surroundings = {**os.environ, "TMPDIR": str(target.parent)}
        done = _run(command, TIMEOUT_SECONDS, surroundings)
        if done.returncode == 0 and not target.is_file():
            raise CompilerError(f"{self.command[0]} says it succeeded and made no library; let CXX name a C++ compiler")
        if done.returncode != 0:
            complaints = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            first = complaints[0].strip() if complaints else "without a word"
            raise CompilerError(f"{self.command[0]} failed with exit code {done.returncode}: {first}")


def find_compiler() -> Compiler:
    """The one the user names in CXX, or the first that is installed."""
    named = _named_compiler()
    for candidate, *arguments in [named] if named else [[name] for name in CANDIDATES]:
        path = shutil.which(candidate)
        if path is None:
            continue
        command = (path, *arguments)
        done = _run([*command, "--version"], 60)
        if done.returncode != 0 or not done.stdout:
            raise CompilerError(f"{path} does not tell its version (exit code {done.returncode})")
        return Compiler(command, done.stdout.splitlines()[0])
    if named:
        raise CompilerError(f"CXX names {named[0]}, which is not there; unset CXX, or let it name a C++ compiler")
    raise CompilerError(
        f"there is no C++ compiler: looked for any of {', '.join(CANDIDATES)}; "
        "on Debian or Ubuntu 'sudo apt install g++' brings one"
    )


def _named_compiler() -> list[str]:
    value = os.environ.get(COMPILER_VARIABLE, "")
    try:
        return shlex.split(value)
    except ValueError as error:
        raise CompilerError(
            f"CXX is {value!r}, which is no command ({error}); unset CXX, or let it name a C++ compiler"
        ) from None


def _run(
    command: Sequence[str], seconds: int, surroundings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=surroundings,
            process_group=0,
        )
    except OSError as error:
        raise CompilerError(f"{command[0]} could not be run ({error})") from error
    with process:
        try:
            output, complaints = process.communicate(timeout=seconds)
        except BaseException as error:
            # The programs that a compiler starts would go on for a minute after it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise CompilerError(f"{command[0]} was stopped after {seconds} seconds") from None
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, complaints)
