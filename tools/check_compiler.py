"""Say in one sentence what to install when the engine cannot be built here: a C++20 compiler, or Python's headers.

Runs before there is a .venv, with any Python 3: nothing but the standard library, nothing newer than it must be.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROGRAM = "#include <bit>\n#include <thread>\nint main() { return std::has_single_bit(1u) ? 0 : 1; }\n"
INSTALL = (
    "install one (Debian, Ubuntu: sudo apt install g++; Fedora: sudo dnf install gcc-c++; "
    "macOS: xcode-select --install)"
)


def compiler() -> list[str]:
    """The command that CMake would take: $CXX, or the first usual name that is there; empty if none is."""
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    return next(([name] for name in ("c++", "g++", "clang++") if shutil.which(name)), [])


def problem() -> str | None:
    """What is missing, as one sentence; None if nothing is."""
    command = compiler()
    if not command:
        return f"The NES engine is built from C++ and no C++ compiler was found: {INSTALL}, then run make setup again."
    if not shutil.which(command[0]):
        return f"CXX names {command[0]}, which is not there: unset CXX or {INSTALL}, then run make setup again."
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(PROGRAM, encoding="utf-8")
        build = [*command, "-std=c++20", str(source), "-o", str(Path(folder) / "probe")]
        if subprocess.run(build, capture_output=True, check=False).returncode != 0:
            return (
                f"The C++ compiler {shlex.join(command)} cannot build a C++20 program (gcc 12 or clang 14 can): "
                f"{INSTALL} or let CXX name another, then run make setup again."
            )
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        return (
            f"The headers of Python {sys.version_info.major}.{sys.version_info.minor} are not installed: install them "
            "(Debian, Ubuntu: sudo apt install python3-dev; Fedora: sudo dnf install python3-devel), "
            "then run make setup again."
        )
    return None


def main() -> int:
    """Print what is missing and answer 1, or nothing and 0."""
    found = problem()
    print(found or "", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
