import shutil

import pytest

from respawn.runs.layout import RunFolder
from respawn.testing.fake_fish_run import make_fish_run


@pytest.fixture(scope="session")
def v40(tmp_path_factory):
    """A run like the reference's: sixty updates, seven probes, nothing learned. Not to be changed; see `fish`."""
    return make_fish_run(tmp_path_factory.mktemp("fish"), "v40")


@pytest.fixture
def fish(v40, tmp_path):
    """A copy of it that may be changed."""
    return RunFolder(shutil.copytree(v40.path, tmp_path / "v40"))
