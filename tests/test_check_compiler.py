"""Without a usable compiler, setup ends with one sentence that says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "check_compiler.py"


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL)], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"PATH": "/nowhere"}, "no C++ compiler was found"),
        ({"PATH": "/usr/bin:/bin", "CXX": "/nowhere/c++"}, "CXX names /nowhere/c++, which is not there"),
        ({"PATH": "/usr/bin:/bin", "CXX": "false"}, "false cannot build a C++20 program"),
    ],
)
def test_says_what_to_install(environment, said):
    done = run(**environment)

    assert done.returncode == 1
    assert said in done.stderr
    assert "sudo apt install g++" in done.stderr and "xcode-select --install" in done.stderr
    assert done.stderr.count("\n") == 1


def test_is_silent_about_a_compiler_that_works(tmp_path):
    """A stand-in that accepts everything, so that the test needs no compiler."""
    accepts = tmp_path / "c++"
    accepts.write_text("#!/bin/sh\nexit 0\n")
    accepts.chmod(0o755)

    done = run(PATH="/usr/bin:/bin", CXX=str(accepts))

    assert (done.returncode, done.stderr) == (0, "")
