"""gym-super-mario-bros, for tests that play it beside our own console."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def needed_shim() -> ModuleType:
    """The module that makes it run; whoever asks is skipped where it is not installed."""
    for package in ("gym_super_mario_bros", "nes_py", "gym"):
        if not any((Path(folder) / package).is_dir() for folder in sys.path):  # importing them prints and warns
            pytest.skip(f"{package} is needed: make peers")
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    import gym_super_mario_bros_shim

    return gym_super_mario_bros_shim
