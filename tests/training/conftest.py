import pytest
from small_schools import train_school
from small_trainings import train_tiny

from respawn.runs.layout import RunFolder
from respawn.worlds.mario.config import MarioConfig


@pytest.fixture(scope="session")
def mario_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Mario, who is called back after 12 decisions."""
    return train_tiny(MarioConfig(limit_steps=12, start_jitter=4), tmp_path_factory.mktemp("mario"), "tiny")


@pytest.fixture(scope="session")
def fish_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Schools whose episodes take 30 steps."""
    return train_school(tmp_path_factory.mktemp("fish"), "school")
