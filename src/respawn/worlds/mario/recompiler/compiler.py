"""The C++ compiler of the machine we are on."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMPILER_VARIABLE = "CXX"
CANDIDATES = ("g++", "c++", "clang++")
TIMEOUT_SECONDS = 600


class CompilerError(Exception):
    """The compiler is missing or refuses; the message is one clause."""


@dataclass(frozen=True)
class Compiler:
    """A compiler and what to ask of it."""

    path: str
    version: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Optimisation: more than -O1 costs gcc twice the time and gains nothing; clang needs -O2 to catch up."""
        level = "-O2" if "clang" in self.version else "-O1"
        return ("-std=c++20", level, "-fPIC", "-shared", "-fvisibility=hidden", "-w")

    def compile(self, source: Path, target: Path, headers: Path) -> None:
        """Make a shared library of one source file."""
        command = [self.path, *self.flags, "-I", str(headers), str(source), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompilerError(f"{self.path} could not be run to its end ({error})") from error
        if done.returncode != 0:
            complaints = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            first = complaints[0].strip() if complaints else "without a word"
            raise CompilerError(f"{self.path} failed with exit code {done.returncode}: {first}")


def find_compiler() -> Compiler:
    """The one the user names in CXX, or the first that is installed."""
    named = os.environ.get(COMPILER_VARIABLE, "").split()
    for candidate in named[:1] or CANDIDATES:
        path = shutil.which(candidate)
        if path is None:
            continue
        try:
            done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompilerError(f"{path} could not be run ({error})") from error
        return Compiler(path, done.stdout.splitlines()[0] if done.stdout else path)
    sought = f"{named[0]} (which CXX names)" if named else "any of " + ", ".join(CANDIDATES)
    raise CompilerError(
        f"there is no C++ compiler: looked for {sought}; on Debian or Ubuntu 'sudo apt install g++' brings one"
    )
