from collections.abc import Iterator
from functools import cache

import pytest
from heard_runs import Train, listening
from small_schools import train_school
from small_trainings import train_tiny

from respawn.runs.layout import RunFolder
from respawn.schedules.start_files import HardStart as StartOfFile
from respawn.schedules.start_files import write_start_file
from respawn.testing import fake_console
from respawn.testing.fake_console import FakeGame
from respawn.worlds.mario import world as mario_world
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.hard_starts import HardStart
from respawn.worlds.mario.levels import find_level


@pytest.fixture(scope="session")
def mario_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Mario, who is called back after 12 decisions."""
    return train_tiny(MarioConfig(limit_steps=12, start_jitter=4), tmp_path_factory.mktemp("mario"), "tiny")


@pytest.fixture(scope="session")
def fish_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Schools whose episodes take 30 steps."""
    return train_school(tmp_path_factory.mktemp("fish"), "school")


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Train]:
    """Trains, and answers what was learned from: Mario in a game that needs no ROM, with a goal behind its enemy."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(mario_world, "open_game", lambda *about: FakeGame())
        patches.setattr(fake_console, "GOAL_X", 220)
        yield cache(listening(tmp_path_factory.mktemp("heard")))


@pytest.fixture(scope="session")
def starts_of_mario(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of beginnings a little to the right of that of 1-1."""
    path = tmp_path_factory.mktemp("starts") / "starts.json"
    held = [(128,) * count for count in (3, 5, 7)]
    states = [HardStart(find_level("1-1"), 0, buttons).state(MarioConfig()) for buttons in held]
    write_start_file(path, [StartOfFile(state) for state in states], source="a test", note="a little to the right")
    return str(path)
