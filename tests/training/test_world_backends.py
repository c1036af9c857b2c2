import sys

import pytest

from respawn.errors import ConfigError
from respawn.training import world_backends
from respawn.training.world_backends import BACKENDS, TrialPlan, check_backend, uses_workers, world_config
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig


def planned(backend, **changes):
    return TrialPlan(1, backend, num_lanes=4, workers=2, seed=0, steps=10, limit_seconds=60.0, **changes)


def test_each_backend_has_its_world():
    kinds = {backend: type(world_config(planned(backend))) for backend in BACKENDS}
    assert kinds == {
        "engine": MarioConfig,
        "fish": FishConfig,
        "gymnasium": ForeignConfig,
        "gym-super-mario-bros": ForeignConfig,
    }
    assert [backend for backend in BACKENDS if uses_workers(backend)] == ["gymnasium", "gym-super-mario-bros"]


def test_workers_are_lost_before_the_trial_is_and_never_replaced():
    config = world_config(planned("gymnasium", env_id="Maze-v0", imports=("maze",)))
    assert (config.env_id, config.imports, config.workers) == ("Maze-v0", ("maze",), 2)
    assert config.construct_seconds == config.reset_seconds == config.step_seconds == 30.0
    assert config.max_replacements == 0
    assert world_config(planned("gym-super-mario-bros")).env_id == "peer/SuperMarioBros-1-1-v0"


def test_a_peer_that_is_not_installed_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setitem(world_backends._PEER_PACKAGES, "no_such_package", "no-such-package==1.0")
    with pytest.raises(ConfigError, match=r"cannot be tried: pip install .*no-such-package==1.0"):
        check_backend("gym-super-mario-bros")
    check_backend("gymnasium")


def test_without_the_source_tree_the_shim_is_missed_and_found_on_the_path(monkeypatch, tmp_path):
    package = tmp_path / "lib" / "site-packages" / "respawn"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(world_backends.respawn, "__file__", str(package / "__init__.py"))
    monkeypatch.setattr(world_backends, "_PEER_PACKAGES", {})
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if not folder.endswith("benchmarks")])
    monkeypatch.delitem(sys.modules, world_backends.SHIM, raising=False)
    assert world_backends.shim_folder() is None
    with pytest.raises(ConfigError, match="is in the folder benchmarks of the source tree only"):
        check_backend("gym-super-mario-bros")
    (tmp_path / f"{world_backends.SHIM}.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert world_backends.shim_folder() == tmp_path
