"""The engine as the tests see it, and the way to the fuzzer shared with the benchmark."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from respawn.worlds.mario import _engine

sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))


@pytest.fixture(scope="session")
def engine() -> ModuleType:
    return _engine
