"""The engine as the tests see it, or a reason to skip them; and the way to the fuzzer shared with the benchmark."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))


@pytest.fixture(scope="session")
def engine() -> ModuleType:
    module: ModuleType = pytest.importorskip("respawn.worlds.mario._engine", reason="the native engine is not built")
    if not hasattr(module, "Console"):
        pytest.skip("the native engine has no consoles yet")
    return module
