"""What the pages show as Python runs as it stands there, by itself, in an interpreter that knows nothing yet."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readmes_line_for_gymnasium():
    (line,) = re.findall(r"`([^`]*gymnasium\.make\([^`]*)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    run(line)


@pytest.mark.parametrize("page", ["fish-environments.md", "mario.md", "mario-gymnasium.md", "mario-engine.md"])
def test_the_pages_of_worlds(page):
    text = (ROOT / "docs/worlds" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    run("\n".join(blocks))
